import * as z from 'zod/mini';
import { lazy } from '../lazy.ts';
import { resourceId } from '../rules/ids.ts';
import { positiveMoney } from '../rules/money.ts';

export const OPERATIONS = ['create', 'reorder', 'drive', 'api_key'] as const;

export const OUTCOMES = [
  'rented',
  'refused',
  'not_sent',
  'unknown',
  'not_made',
  'replaced',
  'dismissed',
] as const;

/** Built when the first file is read. */
const schemas = lazy(() => {
  const text = z.string();
  /** It names a file, and an export may come from anywhere. */
  const uid = z.string().check(z.regex(/^[0-9A-Za-z][0-9A-Za-z.-]{0,99}$/));
  /** It stands in a path of a request. */
  const resource = z.string().check(z.refine((id) => resourceId(id).ok));
  const maybe = z.optional(z.nullable(text));

  /** What was last seen of a machine, so that a list can say something while it can't be reached. */
  const snapshot = z.looseObject({
    id: resource,
    name: text,
    status: text,
    price_per_hour: maybe,
    offer_name: maybe,
    created_at: maybe,
    seen_at: text,
  });

  /** The process that sent a request. All but the pid is only known where there is /proc. */
  const sender = z.looseObject({
    pid: z.number(),
    /** The run of the system: pids start anew with it. */
    boot: z.optional(text),
    /** When the process started, in ticks of that run: pids are given out again. */
    started: z.optional(text),
    /** The pid namespace: a container counts from 1 again. */
    space: z.optional(text),
  });

  /** A request as it stood before it was sent. It never changes. Fields of newer versions are kept. */
  const intent = z.looseObject({
    version: z.literal(1),
    uid,
    operation: z.enum(OPERATIONS),
    /** Of the machine, drive or key that was asked for. */
    name: text,
    asked_at: text,
    service: text,
    /** The account's id where it was known. */
    account: z.nullable(text),
    /** A part of the key's hash, see accountOfKey. */
    key: z.nullable(text),
    offer_id: z.nullable(text),
    /** The terminated machine that is ordered again. */
    source_id: z.optional(resource),
    /** Roubles an hour: a machine that came out dearer is not wanted. */
    max_price: z.optional(z.string().check(z.refine((amount) => positiveMoney(amount).ok))),
    /** What was sent, with its secrets replaced; `masked` tells whether there were any. */
    body: z.optional(z.record(z.string(), z.unknown())),
    masked: z.boolean(),
    /** HMAC-SHA256 of the body as it was sent, under the key: no secret can be guessed from it. */
    body_hash: z.nullable(text),
    /** The request whose doubt this one is to settle. */
    retry_of: z.optional(uid),
    process: z.nullable(sender),
  });

  const outcome = z.looseObject({
    /**
     * - `rented`: the service gave it the id `id`.
     * - `refused`: the service said no. `not_sent`: no byte left. `not_made`: it is in no list.
     * - `unknown`: it may have been done.
     * - `replaced`: the same unique name was accepted again later, so nothing holds it from this one.
     * - `dismissed`: the user knows better and wants to hear no more of it.
     */
    kind: z.enum(OUTCOMES),
    at: text,
    id: z.optional(resource),
    /** Ids that stood in an answer that could not be trusted: each may be the machine. */
    candidates: z.optional(z.array(resource)),
    reason: z.optional(text),
  });

  const machine = z.looseObject({
    version: z.literal(1),
    id: resource,
    name: text,
    /** How it came to be known. */
    origin: z.enum(['create', 'reorder', 'read', 'track', 'drive', 'import']),
    /** When it was asked for, or first heard of. */
    known_at: text,
    /** The request that it came from. */
    request: z.nullable(uid),
    /** When this computer first heard of it. */
    first_seen_at: z.optional(text),
    /** Whose it is, as far as that was known then. */
    service: z.optional(text),
    account: z.optional(z.nullable(text)),
    /** Set once the user wants it out of the list. */
    untracked_at: z.optional(text),
    last: z.optional(snapshot),
  });

  /** What `instances export` writes: all that another computer needs to know. */
  const journal = z.looseObject({
    kind: z.literal('gpucloud-journal'),
    version: z.literal(1),
    exported_at: text,
    service: text,
    account: z.nullable(text),
    /** A part of the key's hash, see accountOfKey; it tells whose these are where no account is known. */
    key: z.optional(z.nullable(text)),
    machines: z.array(machine),
    requests: z.array(z.looseObject({ intent, outcome: z.optional(outcome) })),
  });

  return { snapshot, sender, intent, outcome, machine, journal };
});

type Schemas = ReturnType<typeof schemas>;
export type Snapshot = z.infer<Schemas['snapshot']>;
export type ProcessMark = z.infer<Schemas['sender']>;
export type IntentRecord = z.infer<Schemas['intent']>;
export type OutcomeRecord = z.infer<Schemas['outcome']>;
export type Outcome = OutcomeRecord['kind'];
export type MachineRecord = z.infer<Schemas['machine']>;
export type Origin = MachineRecord['origin'];
export type JournalExport = z.infer<Schemas['journal']>;

export function asIntent(value: unknown): IntentRecord | undefined {
  return read(() => schemas().intent, value);
}

export function asOutcome(value: unknown): OutcomeRecord | undefined {
  return read(() => schemas().outcome, value);
}

function read<T>(schema: () => z.ZodMiniType<T>, value: unknown): T | undefined {
  return value === undefined ? undefined : schema().safeParse(value).data;
}

/** Reads a file of a machine; undefined for one that is torn or not ours. */
export function parseMachine(json: string): MachineRecord | undefined {
  try {
    return read(() => schemas().machine, JSON.parse(json));
  } catch {
    return undefined;
  }
}

export type ParsedExport =
  | { readonly ok: true; readonly journal: JournalExport }
  /** The first thing that is wrong, completing "the file …". */
  | { readonly ok: false; readonly what: string };

export function parseExport(json: string): ParsedExport {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return { ok: false, what: 'is not JSON' };
  }
  const result = schemas().journal.safeParse(value);
  if (result.success) {
    const what = strangeIn(result.data);
    return what === undefined ? { ok: true, journal: result.data } : { ok: false, what };
  }
  const where = result.error.issues[0]?.path.map(String).join('.') ?? '';
  return {
    ok: false,
    what: `is no export of "gpucloud instances export"${where === '' ? '' : `: ${where} is missing or wrong`}`,
  };
}

/** Bytes; a file of the journal that is a few times as long is not read any more. */
const LONGEST = 384 * 1024;

function isTooLong(record: object): boolean {
  return Buffer.byteLength(JSON.stringify(record, null, 2)) > LONGEST;
}

/** What no computer writes: things of another owner than the whole, times that are none, texts without an end. */
function strangeIn({ service, account, machines, requests }: JournalExport): string | undefined {
  const isOther = (one: { service?: string | undefined; account?: string | null | undefined }) =>
    (one.service ?? service) !== service || (one.account ?? account) !== account;
  const intents = requests.map(({ intent }) => intent);
  const strange = intents.find((intent) => isOther(intent))?.uid ?? machines.find(isOther)?.id;
  if (strange !== undefined) {
    return `holds what is of another service or account than the file itself: ${strange}`;
  }
  const long =
    intents.find((intent) => isTooLong(intent))?.uid ?? machines.find((one) => isTooLong(one))?.id;
  if (long !== undefined) {
    return `holds more of ${long} than any computer writes`;
  }
  const timeless = intents.find(({ asked_at }) => Number.isNaN(Date.parse(asked_at)));
  return timeless === undefined ? undefined : `does not say when ${timeless.uid} was asked for`;
}
