import type { Infer } from '../api/schemas/fields.ts';
import { instance } from '../api/schemas/instance.ts';
import { createInstanceBody } from '../api/schemas/instance-body.ts';
import { lazy } from '../lazy.ts';
import * as z from '../zod.ts';
import { fields } from './fields.ts';

/** A path of `--rescue`, with its last complete copy. */
export const rescuedPath = lazy(() => {
  const { text, texts, maybeText, maybeTime, number } = fields();
  return z.object({
    remote: text,
    local: text,
    copied_at: maybeTime,
    /** Files and bytes that were the same on both sides. */
    files: number,
    bytes: number,
    /** Files that changed while they were copied. */
    changing: texts,
    failure: maybeText,
  });
});

/** The fields of an instance with `--rescue`. */
function rescueFields() {
  const { maybeText } = fields();
  return {
    rescue: z.optional(z.array(rescuedPath())),
    /** Why the last pass did not copy everything; null if it did. */
    rescue_failing: z.optional(maybeText),
  };
}

/** `get`, `create` and `reorder`: the service's instance, with its deadline on this computer. */
export const shownInstance = lazy(() => {
  const { maybeTime, number, maybeNumber, maybeRoubles, flag } = fields();
  return z.extend(instance(), {
    /** The deadline in service time (ISO 8601). */
    ends_at: maybeTime,
    /** Present only with an idle rule. */
    if_idle_seconds: z.optional(number),
    /** 0 if the instance is in use; null if unknown. */
    idle_seconds: z.optional(maybeNumber),
    ...rescueFields(),
    /** `get`: the price times the hours since the creation; null if unknown. */
    cost_estimate: z.optional(maybeRoubles),
    /** true if this computer has seen it stopped: the estimate may also count that time. */
    was_stopped: z.optional(flag),
  });
});

/** One request for one offer. */
const attempt = lazy(() => {
  const { text, maybeText } = fields();
  return z.object({
    offer_id: text,
    outcome: z.enum(['created', 'error', 'over_max_price', 'refused', 'unreachable']),
    http_status: z.nullable(z.number()),
    /** Why the attempt failed, with the service's message. */
    message: maybeText,
  });
});

/** `create`; with several offers or `--retry-for`, also each attempt. */
export const createdInstance = lazy(() =>
  z.extend(shownInstance(), { attempts: z.optional(z.array(attempt())) }),
);

/**
 * A row of `list`: the service's instance, or the stored facts of an instance that was not read.
 * Only a request with an unknown outcome has no ID.
 */
export const listedInstance = lazy(() => {
  const { text, maybeText, flag, maybeTime, number, maybeNumber, maybeRoubles } = fields();
  return z.extend(instance(), {
    id: maybeText,
    name: text,
    ends_at: maybeTime,
    if_idle_seconds: z.optional(number),
    idle_seconds: z.optional(maybeNumber),
    ...rescueFields(),
    /** The price times the hours since the creation; null if unknown. */
    cost_estimate: z.optional(maybeRoubles),
    /** true if this computer has seen it stopped: the estimate may also count that time. */
    was_stopped: z.optional(flag),
    unread: flag,
    last_seen_at: z.optional(maybeTime),
    uid: z.optional(maybeText),
    asked_at: z.optional(text),
    offer_id: z.optional(maybeText),
    may_be_billing: z.optional(flag),
    /** Whether this computer has an unfinished job of `run` on the instance. */
    has_job: z.optional(flag),
  });
});

/** A row of the verbs that change instances, and of `wait` and `untrack`. */
export const changedInstance = lazy(() => {
  const { text, maybeText, maybeTime, number } = fields();
  return z.looseObject({
    id: text,
    name: text,
    status: text,
    paid_until: maybeText,
    ends_at: maybeTime,
    /** `expire`: the idle rule, if one is set. */
    if_idle_seconds: z.optional(number),
    /** `expire`: the paths of `--rescue`, if any are set. */
    rescue: z.optional(z.array(text)),
  });
});

/** `create --dry-run`. The request is null if nothing would be sent. */
export const plan = lazy(() => {
  const { texts, flag, maybeTime, maybeNumber, maybeRoubles } = fields();
  return z.object({
    request: z.nullable(createInstanceBody()),
    deadline: maybeTime,
    if_idle_seconds: maybeNumber,
    max_price: maybeRoubles,
    would_send: flag,
    /** The values of the request that are the profile's defaults: `offer`, `image`, `ssh_key`. */
    from_profile: texts,
  });
});

/** `run --dry-run`. */
export const jobPlan = lazy(() => {
  const { text, texts, number, maybeText, maybeRoubles, flag } = fields();
  return z.extend(plan(), {
    command: texts,
    setup: maybeText,
    /** Names of the command's variables. */
    variables: texts,
    sync: z.nullable(
      z.object({
        folder: text,
        files: number,
        bytes: number,
        /** The three largest entries of the folder. */
        largest: z.array(z.object({ path: text, bytes: number })),
        /** `partial`: gpucloud stopped counting, so there are more. */
        left_out: z.object({ files: number, bytes: number, partial: flag }),
      }),
    ),
    fetch: z.array(z.object({ remote: text, local: text })),
    terminate: maybeText,
    /** Until the deadline; null without `--max-price`. */
    cost_at_most: maybeRoubles,
    /** Until the deadline, at the last known price; null if it is unknown. */
    cost_estimate: maybeRoubles,
    /** With `--here`: the names of all instances. */
    names: z.optional(texts),
    min_count: z.optional(number),
  });
});

/** `run --detach`. */
export const startedJob = lazy(() => {
  const { text } = fields();
  return z.object({ id: text, name: text });
});

export const recovered = lazy(() => {
  const { text, maybeText, flag } = fields();
  return z.object({
    uid: text,
    name: text,
    operation: z.enum(['create', 'reorder']),
    asked_at: text,
    offer_id: maybeText,
    outcome: z.enum(['rented', 'unknown']),
    /** The instance's ID, if found. */
    id: maybeText,
    may_be_billing: flag,
    /** Instances with the request's name and time. */
    candidates: z.array(z.object({ id: text, status: text, created_at: z.optional(maybeText) })),
    note: text,
  });
});

/**
 * A row of `reap`. `refused`: not terminated, for any reason. `kept`: the failed job requested to
 * keep the instance, it existed before the job, or a path of `--rescue` is not copied yet. `lost`: the command is gone without an exit
 * code. The ID is null for a request with an unknown outcome.
 */
export const reaped = lazy(() => {
  const { text, maybeText, maybeNumber, number } = fields();
  return z.object({
    id: maybeText,
    name: text,
    deadline: maybeText,
    overdue_seconds: number,
    outcome: z.enum(['terminated', 'already_ended', 'refused', 'unknown', 'kept', 'lost']),
    reason: z.enum(['deadline', 'job', 'idle']),
    exit_code: maybeNumber,
    /** What was copied of an instance with `--rescue`. */
    rescued: z.optional(z.array(rescuedPath())),
  });
});

/** `reap --dry-run`: what the next pass would do. */
export const reapPlan = lazy(() => {
  const { text, maybeText } = fields();
  return z.object({
    /** Null for a request with an unknown outcome. */
    id: maybeText,
    name: text,
    deadline: maybeText,
    action: z.enum(['terminate', 'rescue', 'finish_job', 'keep', 'nothing']),
    why: text,
  });
});

/** `reap --status`, `--install` and `--uninstall`. */
export const enforcement = lazy(() => {
  const { text, maybeText, maybeNumber, flag, maybeTime } = fields();
  return z.object({
    profile: text,
    armed: flag,
    enforces: z.array(z.enum(['deadline', 'idle', 'job', 'rescue'])),
    scheduler: maybeText,
    every_seconds: maybeNumber,
    last_run_at: maybeTime,
    age_seconds: maybeNumber,
    failure: maybeText,
    reason: maybeText,
  });
});

/** An endpoint of a program on the instance. */
export const endpoint = lazy(() => {
  const { text, maybeText, maybeNumber, flag } = fields();
  return z.object({
    name: text,
    /** A link that a browser can open; null if none is known. */
    url: maybeText,
    /** `IP:PORT` if nothing else is known, or the raw data as text if no field was recognised. */
    address: maybeText,
    port: maybeNumber,
    protocol: maybeText,
    is_main: flag,
    /**
     * The source: the service's response, its template with the values filled in, or the
     * container's ports.
     */
    source: z.enum(['service', 'template', 'container']),
    instance_id: text,
  });
});

/** A row of `top`. Unreadable values are null. */
export const topRow = lazy(() => {
  const { text, number, maybeText, maybeNumber, maybeRoubles } = fields();
  return z.object({
    id: text,
    name: text,
    status: maybeText,
    price_per_hour: maybeRoubles,
    gpus: z.array(
      z.object({
        index: number,
        name: text,
        /** Each value is null if the driver does not report it, for example with MIG. */
        utilization_percent: maybeNumber,
        memory_used_mib: maybeNumber,
        memory_total_mib: maybeNumber,
        temperature_c: maybeNumber,
        power_w: maybeNumber,
      }),
    ),
    /** All cores together. */
    cpu_percent: maybeNumber,
    memory_used_mib: maybeNumber,
    memory_total_mib: maybeNumber,
    disk_used_percent: maybeNumber,
    /** Set if the instance has an idle rule. */
    idle_seconds: maybeNumber,
    error: z.nullable(z.object({ code: text, message: text })),
  });
});

/** An open `tunnel`. */
export const openTunnel = lazy(() => {
  const { text, maybeText, number } = fields();
  return z.object({
    instance_id: text,
    name: text,
    endpoint: maybeText,
    url: maybeText,
    address: text,
    local_port: number,
    remote_port: number,
  });
});

export const link = lazy(() => z.object({ name: fields().text, url: fields().text }));

export const secret = lazy(() => z.object({ key: fields().text, value: fields().open }));

export const sshHost = lazy(() => {
  const { text, texts, number } = fields();
  return z.object({ host: text, hosts: texts, id: text, hostname: text, port: number, user: text });
});

/** A row of `inventory`. `host` is the name in `ssh-config`; `gpus` is at least 1. */
export const inventoryRow = lazy(() => {
  const { text, number, maybeText } = fields();
  return z.object({
    name: text,
    id: text,
    host: text,
    hostname: text,
    port: number,
    user: text,
    gpus: number,
    offer: maybeText,
  });
});

/** An SSH command that gpucloud did not run. */
export const commandWords = lazy(() => z.array(fields().text));

export type ShownInstance = Infer<typeof shownInstance>;
/** An instance's idle rule, and for how long it has been idle. Empty without a rule. */
export type IdleTime = Pick<ShownInstance, 'if_idle_seconds' | 'idle_seconds'>;
export type Attempt = Infer<typeof attempt>;
export type Plan = Infer<typeof plan>;
export type Planned = Omit<Plan, 'request' | 'from_profile'>;
export type Reaped = Infer<typeof reaped>;
export type ReapPlan = Infer<typeof reapPlan>;
export type RescuedPath = Infer<typeof rescuedPath>;
export type ArmedStatus = Infer<typeof enforcement>;
export type ListedInstance = Infer<typeof listedInstance>;
export type TopRow = Infer<typeof topRow>;
export type Recovered = Infer<typeof recovered>;
export type Endpoint = Infer<typeof endpoint>;
export type Link = Infer<typeof link>;
export type Secret = Infer<typeof secret>;
export type SshHost = Infer<typeof sshHost>;
export type InventoryRow = Infer<typeof inventoryRow>;
