import { fieldOf } from '../api/open-fields.ts';
import { masked } from '../api/response/secrets.ts';
import { instance } from '../api/schemas/instance.ts';
import { CliError } from '../errors.ts';
import { lazy } from '../lazy.ts';
import { resourceId } from '../rules/names.ts';
import { FREE_TEXTS, hider, MASK } from '../rules/secrets.ts';
import * as z from '../zod.ts';

/** The version of all records. */
const VERSION = 1;

/**
 * The version of an instance's `last`. An older gpucloud reads the record itself, and the fields of
 * `last` that it knows. So it keeps the name, origin and request of an instance.
 */
export const LAST_VERSION = 2;

/** Builds the schemas when the first file is read. The schemas keep fields of newer versions. */
const schemas = lazy(() => {
  const text = z.string();
  // The ID becomes part of request paths.
  const resource = z.string().check(z.refine((id) => resourceId(id).ok));
  const time = text.check(z.refine((iso) => !Number.isNaN(Date.parse(iso))));
  /** The `mcp` session that rents the instance, and what it reserved in the session's purse. */
  const session = z.looseObject({
    id: text,
    /** The session's call that rents. */
    call: z.number(),
    /** The highest price per hour, in roubles. */
    price: text,
    hours: z.number(),
  });
  /**
   * Paths to copy to this computer before the instance ends by itself. Each time they are set, they
   * get a new UID, to which the progress belongs.
   */
  const rescue = z.object({
    uid: text,
    paths: z.array(z.object({ remote: text, local: text })),
    /** Roubles that copying may cost after the deadline; null for the price of one hour. */
    budget: z.nullable(text),
    /** Milliseconds before the deadline when copying begins. */
    early: z.number(),
  });
  return {
    request: z.looseObject({
      version: z.literal(VERSION),
      uid: z.string().check(z.regex(/^[0-9A-Za-z][0-9A-Za-z.-]{0,99}$/)),
      operation: z.enum(['create', 'reorder']),
      name: text,
      /** When the request was made, by this computer's clock. */
      asked_at: text,
      /** The sending process; null once it has stopped waiting for the response. */
      pid: z.nullable(z.number()),
      /** Milliseconds after which that process stops waiting for a response. */
      timeout_ms: z.number(),
      offer_id: z.nullable(text),
      /** The terminated instance to reorder. */
      source_id: z.optional(resource),
      /** Roubles per hour. */
      max_price: z.optional(text),
      /** When to terminate the instance, in service time (ISO 8601). */
      deadline: z.optional(time),
      /** Milliseconds without use before terminating the instance. */
      if_idle: z.optional(z.number()),
      rescue: z.optional(rescue),
      /** The request body, with secrets masked. */
      body: z.optional(z.record(text, z.unknown())),
      session: z.optional(session),
    }),
    instance: z.looseObject({
      version: z.literal(VERSION),
      id: resource,
      name: text,
      /** How this computer learned of the instance. */
      origin: z.enum(['create', 'reorder', 'read', 'track']),
      /** When the instance was requested or first seen. */
      known_at: text,
      /** UID of the instance's create request. */
      request: z.nullable(text),
      untracked_at: z.optional(text),
      /** Whether a response has shown the instance stopping or stopped, also if it was started since. */
      was_stopped: z.optional(z.boolean()),
      session: z.optional(session),
      /** The service's response as last read, without secrets. */
      last: z.optional(
        z.extend(instance(), { version: z.literal(LAST_VERSION), name: text, seen_at: text }),
      ),
    }),
    deadline: z.looseObject({
      version: z.literal(VERSION),
      id: resource,
      name: text,
      /** Service time; null for no deadline. */
      deadline: z.nullable(time),
      /**
       * Terminates the instance after this many milliseconds without use. Each time it is set, the
       * rule gets a new UID.
       */
      if_idle: z.optional(z.object({ after: z.number().check(z.positive()), uid: text })),
      /** An older gpucloud ignores it: it enforces the deadline and copies nothing. Undefined if unreadable. */
      rescue: z.catch(z.optional(rescue), undefined),
    }),
    /** What was copied for the rescue with this UID. */
    rescue: z.looseObject({
      version: z.literal(VERSION),
      id: resource,
      rescue: text,
      /** When a pass found the instance due by this deadline or the idle rule with this UID. */
      due: z.nullable(z.object({ at: time, by: text })),
      paths: z.array(
        z.object({
          remote: text,
          local: text,
          /** When the last complete copy was made, in service time. */
          copied_at: z.nullable(time),
          files: z.number(),
          bytes: z.number(),
          /** Files that changed while they were copied. */
          changing: z.array(text),
          /** Why the last attempt failed. */
          failure: z.nullable(text),
          unplaced: z.nullable(z.object({ staging: text, isWhole: z.boolean() })),
        }),
      ),
      /** Why the last pass did not copy everything; null if it did. `here`: by this computer. */
      failing: z.nullable(z.object({ since: time, message: text, here: z.boolean() })),
    }),
    /** Use that `reap` recorded for the rule with this UID. */
    idle: z.looseObject({
      version: z.literal(VERSION),
      id: resource,
      rule: text,
      /** Whether a pass of `reap` has begun without writing its result. */
      begun: z.boolean(),
      since: z.nullable(z.object({ at: z.number(), uptime: z.number() })),
      last: z.nullable(
        z.object({
          /** Milliseconds in service time, like `since.at`. */
          at: z.number(),
          uptime: z.number(),
          booted: z.number(),
          boot: text,
          cpu: z.number(),
          traffic: z.number(),
        }),
      ),
    }),
    heartbeat: z.looseObject({
      version: z.literal(VERSION),
      service: text,
      /** Null until a run has read the account. */
      account: z.nullable(text),
      /** Milliseconds between runs. */
      every: z.number(),
      /** When a run last reached the service with its key, by this computer's clock. */
      at: z.nullable(time),
      /** How far the service's clock was ahead of this computer's at that run, in milliseconds. */
      ahead: z.optional(z.number()),
      /**
       * Scheduler entry that `--install` created and that started the run. Missing for other
       * schedulers.
       */
      entry: z.optional(text),
      /** The process that ran, and the one that started it. Older versions wrote none. */
      run: z.optional(
        z.looseObject({
          pid: z.number(),
          parent: z.number(),
          /**
           * What the run proves. `loop`: its parent repeats it. `repeats`: it followed another run
           * after about the time between two runs. `first`: its parent may repeat it. `nothing`: a
           * person may have typed it.
           */
          proves: z.optional(z.enum(['loop', 'repeats', 'first', 'nothing'])),
          /** Name of the computer or container. Several may share the folder, but no process IDs. */
          host: z.optional(text),
        }),
      ),
      /** Whether the run used its profile's stored key. */
      stored: z.optional(z.boolean()),
      /** Version of the gpucloud that ran. Older versions than this field wrote none. */
      program: z.optional(text),
      /** What the run can do. Versions older than this field count for deadlines only. */
      features: z.optional(z.array(text)),
      /** Set if a later run did not reach the service. */
      failure: z.optional(z.looseObject({ at: time, message: text })),
    }),
    event: z.looseObject({
      version: z.literal(1),
      /** Identifies the event: the same event has the same key in every pass. */
      key: text,
      event: z.enum([
        'job_ended',
        'terminated_at_deadline',
        'terminated_idle',
        'rescued',
        'rescue_failed',
        'terminate_failed',
        'outcome_unknown',
      ]),
      /** The instance's ID; null if the request's outcome is unknown. */
      id: z.nullable(text),
      name: text,
      /** A sentence for a person. */
      message: text,
      /** The exit code of a job's command; null if unknown or without a job. */
      exit_code: z.nullable(z.number()),
      /** When it happened, by this computer's clock. */
      at: time,
      /** When the profile's command accepted it; null until then. */
      sent_at: z.nullable(time),
    }),
    key: z.looseObject({ version: z.literal(VERSION), account: text }),
  };
});

type Schemas = ReturnType<typeof schemas>;
export type RequestRecord = z.infer<Schemas['request']>;
export type InstanceRecord = z.infer<Schemas['instance']>;
export type DeadlineRecord = z.infer<Schemas['deadline']>;
export type IdleRule = NonNullable<DeadlineRecord['if_idle']>;
export type IdleRecord = z.infer<Schemas['idle']>;
export type Rescue = NonNullable<DeadlineRecord['rescue']>;
export type RescueRecord = z.infer<Schemas['rescue']>;
export type EventRecord = z.infer<Schemas['event']>;
export type Heartbeat = z.infer<Schemas['heartbeat']>;
/** An instance as the service last returned it, without secrets. */
export type SeenInstance = NonNullable<InstanceRecord['last']>;
/** What a session's rental reserved. */
export type SessionMark = NonNullable<InstanceRecord['session']>;
export type Origin = InstanceRecord['origin'];
export type Operation = RequestRecord['operation'];

/**
 * Parses a record of a kind. Returns undefined if the file is unreadable or of another kind. Throws
 * CliError('storage') for a record of a newer gpucloud, which must not be replaced.
 */
export function parseRecord<K extends keyof Schemas>(
  kind: K,
  path: string,
  json: string | null | undefined,
): z.infer<Schemas[K]> | undefined {
  const found = jsonIn(json);
  const last = fieldOf(found, 'last');
  if (isAbove(VERSION, found) || isAbove(LAST_VERSION, last)) {
    throw new CliError('storage', `${path} was written by a newer gpucloud.`, {
      hint: 'update gpucloud',
    });
  }
  const isOld = kind === 'instance' && last !== undefined && fieldOf(last, 'version') === undefined;
  const record = isOld ? { ...Object(found), last: ofVersion1(Object(last)) } : found;
  const parsed = schemas()[kind].safeParse(record);
  return parsed.success ? (parsed.data as z.infer<Schemas[K]>) : undefined;
}

/**
 * Returns a JSON text with its secrets and anything with an API key masked, also where free text
 * repeats a secret of the `whole` response. Cuts texts of more than `longest` characters.
 */
export function storedText(value: object, longest?: number, whole = value): string {
  const found = new Set<string>();
  masked(whole, found);
  const hide = hider(found);
  return JSON.stringify(masked(value), (name, inner: unknown) => {
    if (typeof inner !== 'string') return inner;
    const text = FREE_TEXTS.has(name) ? hide(inner) : inner;
    return text.includes('svc_sk_') ? MASK : text.slice(0, longest);
  });
}

/** Maps the `last` of version 1, which had its own names for some of the service's fields. */
function ofVersion1({ price_per_hour, offer_name, facts, ...last }: Record<string, unknown>) {
  const { offer_id, ...others } = Object(facts);
  return {
    ...last,
    ...others,
    price_per_hour_snapshot: price_per_hour,
    offer: { id: offer_id, name: offer_name },
    version: LAST_VERSION,
  };
}

function jsonIn(json: string | null | undefined): unknown {
  try {
    return JSON.parse(json ?? '');
  } catch {
    return undefined;
  }
}

function isAbove(known: number, value: unknown): boolean {
  const version = fieldOf(value, 'version');
  return typeof version === 'number' && version > known;
}
