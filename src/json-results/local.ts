import type { Infer } from '../api/schemas/fields.ts';
import { baseImage, offer } from '../api/schemas/instance.ts';
import { lazy } from '../lazy.ts';
import * as z from '../zod.ts';
import { fields } from './fields.ts';

export const catalogEntry = lazy(() => {
  const { text, maybeText, maybeFlag, maybeNumber } = fields();
  return z.object({
    kind: z.enum(['offer', 'image']),
    id: text,
    /** The user's name for it, otherwise the service's. */
    name: maybeText,
    given_name: maybeText,
    service_name: maybeText,
    region: maybeText,
    /**
     * Whether the offer was in stock at the last read of an instance that uses it; null if unknown.
     */
    in_stock: maybeFlag,
    /**
     * When `in_stock` was read, to the hour (ISO 8601). null for the sandbox, whose stock is always
     * known.
     */
    in_stock_at: maybeText,
    gpu: maybeText,
    /** Cards of the offer. */
    gpu_count: maybeNumber,
    /** Memory of one card, in GB. */
    vram_gb: maybeNumber,
    cuda_version: maybeText,
    /** Price in roubles as a decimal string, taken from the newest known instance of this offer. */
    price_per_hour: maybeText,
    /** When that instance was created (ISO 8601). Creation fixed its price. */
    price_at: maybeText,
    /** When an instance that uses the entry was last read, to the hour (ISO 8601). */
    seen_at: maybeText,
    /** Where the name comes from: the user, an instance, or the sandbox. */
    sources: z.array(z.enum(['added', 'seen', 'sandbox'])),
  });
});

export const profile = lazy(() => {
  const { text, maybeText, maybeNumber, flag } = fields();
  return z.object({
    name: text,
    /** null for the sandbox, which has no address. */
    base_url: maybeText,
    account: z.nullable(z.object({ id: text, email: maybeText, name: maybeText })),
    has_key: flag,
    /** Where the profile's key is stored; null if it has none. */
    key_in: maybeText,
    /** Whether a command with the same flags and environment uses this profile. */
    active: flag,
    /** `max_burn` is in roubles per hour. */
    guards: z.object({
      max_instances: maybeNumber,
      max_burn: maybeText,
      enforce_max_burn: flag,
      require_deadline: flag,
    }),
    /** Used by commands that rent if neither a flag nor `--file` has the value. */
    defaults: z.object({ offer: maybeText, image: maybeText, ssh_key: maybeText }),
    /** The program of `--notify`, without its arguments; null if there is none. */
    notify: maybeText,
  });
});

export const sandboxStatus = lazy(() => {
  const { text, texts, maybeText, time, maybeTime, number, count, roubles } = fields();
  const counts = z.record(text, count);
  return z.object({
    account: text,
    now: time,
    speed: number,
    /** Roubles charged by this command. */
    charged: z.optional(roubles),
    balance: roubles,
    available: roubles,
    reserved: roubles,
    debt: roubles,
    counts: z.object({
      instances: counts,
      drives: counts,
      ssh_keys: count,
      api_keys: count,
      transactions: count,
    }),
    instances: z.array(
      z.object({
        id: text,
        name: text,
        status: text,
        price_per_hour: roubles,
        reserved: roubles,
        paid_until: maybeTime,
      }),
    ),
    drives: z.array(
      z.object({
        id: text,
        name: text,
        status: text,
        size_gb: number,
        price_per_hour: roubles,
        debt: roubles,
        current_instance_id: maybeText,
      }),
    ),
    faults: texts,
  });
});

export const sandboxCatalog = lazy(() =>
  z.object({
    offers: z.array(z.extend(offer(), { price_per_hour: fields().roubles })),
    images: z.array(baseImage()),
  }),
);

/** A served sandbox's address and key. Scripts rely on this form. */
export const servedSandbox = lazy(() => z.object({ url: fields().text, api_key: fields().text }));

export const tourStep = lazy(() => {
  const { text, open } = fields();
  return z.object({
    title: text,
    command: text,
    /** The command's output with `--json`. */
    result: open,
  });
});

const doctorCheck = lazy(() => {
  const { text, maybeText } = fields();
  return z.object({
    id: text,
    status: z.enum(['pass', 'warn', 'fail']),
    message: text,
    /** How to fix the problem; null if there is none. */
    hint: maybeText,
  });
});

export const doctorReport = lazy(() =>
  z.object({
    checks: z.array(doctorCheck()),
    /** Whether every check passed or only warned. */
    ok: fields().flag,
  }),
);

/** One row for printing and for installing; `file` is null for a printed script. */
export const completionScript = lazy(() => {
  const { text, maybeText, maybeFlag } = fields();
  return z.object({
    shell: text,
    file: maybeText,
    changed: maybeFlag,
    script: z.optional(text),
  });
});

export const commandReference = lazy(() => {
  const { text, texts, maybeText, flag, count } = fields();
  const choices = z.nullable(texts);
  return z.object({
    command: text,
    words: texts,
    aliases: texts,
    summary: text,
    notes: maybeText,
    usage: text,
    arguments: z.array(
      z.object({
        name: text,
        required: flag,
        variadic: flag,
        type: text,
        choices,
        default: maybeText,
        description: text,
      }),
    ),
    flags: z.array(flagReference()),
    without_global_flags: texts,
    columns: z.array(z.object({ name: text, kind: text, shown: flag })),
    examples: texts,
    exit_codes: z.array(count),
    passes_on_exit_code_of: maybeText,
    tool: z.nullable(
      z.object({
        allow: text,
        destructive: flag,
        idempotent: flag,
        confirms: flag,
        without_flags: texts,
      }),
    ),
    result_schema: maybeText,
  });
});

export const flagReference = lazy(() => {
  const { text, maybeText, flag } = fields();
  return z.object({
    long: text,
    short: maybeText,
    type: text,
    value: maybeText,
    value_optional: flag,
    repeatable: flag,
    choices: z.nullable(fields().texts),
    default: maybeText,
    description: text,
  });
});

/** The whole command line, a group or a command. */
export const commandTree = lazy(() => {
  const { text, texts, maybeText, count } = fields();
  const group = z.object({ name: text, aliases: texts, summary: text, heading: text });
  const commands = z.array(commandReference());
  const program = z.object({
    name: text,
    version: text,
    summary: text,
    groups: z.array(group),
    commands,
    global_flags: z.array(flagReference()),
    exit_codes: z.array(z.object({ exit_code: count, code: maybeText, meaning: text })),
    warnings: z.array(z.object({ code: text, meaning: text })),
    environment: z.array(z.object({ variables: texts, flag: maybeText, meaning: text })),
    formats: texts,
    topics: z.array(z.object({ name: text, summary: text })),
  });
  return z.union([program, z.extend(group, { commands }), commandReference()]);
});

export type CatalogEntry = Infer<typeof catalogEntry>;
export type SandboxStatus = Infer<typeof sandboxStatus>;
export type ServedSandbox = Infer<typeof servedSandbox>;
export type ToldStep = Infer<typeof tourStep>;
export type DoctorCheck = Infer<typeof doctorCheck>;
export type DoctorReport = Infer<typeof doctorReport>;
export type CompletionScript = Infer<typeof completionScript>;
export type ShownProfile = Infer<typeof profile>;
