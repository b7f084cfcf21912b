import { resourceId } from '../rules/ids.ts';
import { positiveMoney } from '../rules/money.ts';
import { parse } from '../schema/parse.ts';
import {
  array,
  boolean,
  type Infer,
  looseObject,
  nullable,
  number,
  oneOf,
  optional,
  record,
  refine,
  regex,
  type Schema,
  string,
  unknown,
} from '../schema/schema.ts';

const text = string();
/** It names a file, and an export may come from anywhere. */
const uid = string(regex(/^[0-9A-Za-z][0-9A-Za-z.-]{0,99}$/));
/** It stands in a path of a request. */
const resource = string(refine((id) => resourceId(id).ok));
const maybe = optional(nullable(text));

/** What was last seen of a machine, so that a list can say something while it can't be reached. */
const snapshotSchema = looseObject({
  id: resource,
  name: text,
  status: text,
  price_per_hour: maybe,
  offer_name: maybe,
  created_at: maybe,
  seen_at: text,
});

export const OPERATIONS = ['create', 'reorder', 'drive', 'api_key'] as const;

/** The process that sent a request. All but the pid is only known where there is /proc. */
const processSchema = looseObject({
  pid: number(),
  /** The run of the system: pids start anew with it. */
  boot: optional(text),
  /** When the process started, in ticks of that run: pids are given out again. */
  started: optional(text),
  /** The pid namespace: a container counts from 1 again. */
  space: optional(text),
});

/** A request as it stood before it was sent. It never changes. Fields of newer versions are kept. */
const intentSchema = looseObject({
  version: oneOf(1),
  uid,
  operation: oneOf(...OPERATIONS),
  /** Of the machine, drive or key that was asked for. */
  name: text,
  asked_at: text,
  service: text,
  /** The account's id where it was known. */
  account: nullable(text),
  /** A part of the key's hash, see accountOfKey. */
  key: nullable(text),
  offer_id: nullable(text),
  /** The terminated machine that is ordered again. */
  source_id: optional(resource),
  /** Roubles an hour: a machine that came out dearer is not wanted. */
  max_price: optional(string(refine((amount) => positiveMoney(amount).ok))),
  /** What was sent, with its secrets replaced; `masked` tells whether there were any. */
  body: optional(record(unknown())),
  masked: boolean(),
  /** HMAC-SHA256 of the body as it was sent, under the key: no secret can be guessed from it. */
  body_hash: nullable(text),
  /** The request whose doubt this one is to settle. */
  retry_of: optional(uid),
  process: nullable(processSchema),
});

export const OUTCOMES = [
  'rented',
  'refused',
  'not_sent',
  'unknown',
  'not_made',
  'replaced',
  'dismissed',
] as const;

const outcomeSchema = looseObject({
  /**
   * - `rented`: the service gave it the id `id`.
   * - `refused`: the service said no. `not_sent`: no byte left. `not_made`: it is in no list.
   * - `unknown`: it may have been done.
   * - `replaced`: the same unique name was accepted again later, so nothing holds it from this one.
   * - `dismissed`: the user knows better and wants to hear no more of it.
   */
  kind: oneOf(...OUTCOMES),
  at: text,
  id: optional(resource),
  /** Ids that stood in an answer that could not be trusted: each may be the machine. */
  candidates: optional(array(resource)),
  reason: optional(text),
});

const machineSchema = looseObject({
  version: oneOf(1),
  id: resource,
  name: text,
  /** How it came to be known. */
  origin: oneOf('create', 'reorder', 'read', 'track', 'drive', 'import'),
  /** When it was asked for, or first heard of. */
  known_at: text,
  /** The request that it came from. */
  request: nullable(uid),
  /** When this computer first heard of it. */
  first_seen_at: optional(text),
  /** Whose it is, as far as that was known then. */
  service: optional(text),
  account: optional(nullable(text)),
  /** Set once the user wants it out of the list. */
  untracked_at: optional(text),
  last: optional(snapshotSchema),
});

/** What `instances export` writes: all that another computer needs to know. */
const journalSchema = looseObject({
  kind: oneOf('gpucloud-journal'),
  version: oneOf(1),
  exported_at: text,
  service: text,
  account: nullable(text),
  /** A part of the key's hash, see accountOfKey; it tells whose these are where no account is known. */
  key: optional(nullable(text)),
  machines: array(machineSchema),
  requests: array(looseObject({ intent: intentSchema, outcome: optional(outcomeSchema) })),
});

export type Snapshot = Infer<typeof snapshotSchema>;
export type ProcessMark = Infer<typeof processSchema>;
export type IntentRecord = Infer<typeof intentSchema>;
export type OutcomeRecord = Infer<typeof outcomeSchema>;
export type Outcome = OutcomeRecord['kind'];
export type MachineRecord = Infer<typeof machineSchema>;
export type Origin = MachineRecord['origin'];
export type JournalExport = Infer<typeof journalSchema>;

export function asIntent(value: unknown): IntentRecord | undefined {
  return read(intentSchema, value);
}

export function asOutcome(value: unknown): OutcomeRecord | undefined {
  return read(outcomeSchema, value);
}

/** Nothing, where an outcome is not known yet, is judged without a look. */
function read<T>(schema: Schema<T>, value: unknown): T | undefined {
  if (value === undefined) return undefined;
  const parsed = parse(schema, value);
  return parsed.ok ? parsed.value : undefined;
}

/** Reads a file of a machine; undefined for one that is torn or not ours. */
export function parseMachine(json: string): MachineRecord | undefined {
  try {
    return read(machineSchema, JSON.parse(json));
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
  const result = parse(journalSchema, value);
  if (result.ok) {
    const what = strangeIn(result.value);
    return what === undefined ? { ok: true, journal: result.value } : { ok: false, what };
  }
  const where = result.faults[0].path.map(String).join('.');
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
