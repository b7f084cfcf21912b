import type { CallOptions, Instance } from '../api/index.ts';
import { type MarkedKey, marked } from '../context/key-in-use.ts';
import type { Context } from '../context.ts';
import { CliError, isOfOneReading } from '../errors.ts';
import { isReadNow } from '../instances/known-instances.ts';
import { readableJournal } from '../instances/recover/pending.ts';
import { openPrices } from '../instances/rent/guards.ts';
import type { Known, KnownInstance } from '../journal/index.ts';
import { instant, relative } from '../output/time.ts';
import { inRoubles, type Money, priceIn, sumOf } from '../rules/money.ts';
import { isTerminated, mayBill } from '../rules/statuses.ts';
import { readAccount, readArchived } from './account.ts';
import { type ChargeGroup, LATE } from './charges.ts';
import { type CheckResult, type Exact, readExact, reservedBalance, unknown } from './exact.ts';
import { chargedText, groupText, unexplainedText, whyUnchecked } from './facts.ts';
import { findingsOf, type Look, lookAt } from './findings.ts';
import { lineOf } from './rows.ts';

/** One check of an audit. Scripts rely on the check names. */
export interface Check extends CheckResult {
  readonly check:
    | 'open_requests'
    | 'rented_elsewhere'
    | 'running_long'
    | 'ended_but_charged'
    | 'other_api_keys'
    | 'unexplained_charges'
    | 'reserved_balance';
}

/** Data for the checks. */
interface AuditReading {
  readonly look: Look;
  /** Whole journal. Instances that this audit found through a drive are marked `read`. */
  readonly known: Known;
  /** Possible costs per hour of requests with an unknown outcome. */
  readonly openPrices: readonly (Money | undefined)[];
  /** The last instances that this computer saw TERMINATED, read again. */
  readonly ended: Awaited<ReturnType<typeof readArchived>>;
  /** The account's API keys, or the error from reading them. */
  readonly keys: readonly MarkedKey[] | CliError;
  /** undefined without `--exact`. */
  readonly exact: Exact | undefined;
}

export async function readAudit(
  { exact }: { exact: boolean },
  context: Context,
  options: CallOptions = {},
): Promise<AuditReading> {
  const api = await context.api({ quiet: true });
  const [account, keys] = await Promise.all([
    readAccount(context, { quiet: true, options }),
    readKeys(context, options),
  ]);
  // Reads the journal after the drives: another process may have rented an instance that a drive
  // names.
  const journal = await readableJournal(context);
  const known = await journal.read({ archived: true });
  const priceOf = known.unknown.length === 0 ? undefined : await openPrices(journal, context);
  return {
    look: lookAt(account),
    known,
    openPrices: await Promise.all(known.unknown.map(async (one) => priceIn(await priceOf?.(one)))),
    ended: await readArchived(known.instances.filter(endedHere), api, options),
    keys,
    exact: exact ? await readExact(account, api, context, options) : undefined,
  };
}

function endedHere({ archived, untracked, last }: KnownInstance): boolean {
  return archived && !untracked && isTerminated(last?.status);
}

async function readKeys(
  context: Context,
  options: CallOptions,
): Promise<readonly MarkedKey[] | CliError> {
  try {
    return await marked(await (await context.api()).apiKeys.list(options), context);
  } catch (error) {
    if (!isOfOneReading(error)) throw error;
    return error;
  }
}

const CHECKS: readonly (readonly [Check['check'], (reading: AuditReading) => CheckResult])[] = [
  ['open_requests', openRequests],
  ['rented_elsewhere', rentedElsewhere],
  ['running_long', runningLong],
  ['ended_but_charged', endedButCharged],
  ['other_api_keys', otherKeys],
  ['unexplained_charges', unexplainedCharges],
];

/**
 * Runs every check for costs unknown to this computer. Includes the check of `reserved_balance` if
 * it was read.
 */
export function checksOf(reading: AuditReading): Check[] {
  const { look, known, exact } = reading;
  const checks: Check[] = CHECKS.map(([check, made]) => ({ check, ...made(reading) }));
  if (exact === undefined) return checks;
  return [...checks, { check: 'reserved_balance', ...reservedBalance(exact, look, known) }];
}

function ok(message: string, evidence: readonly string[] = []): CheckResult {
  return { result: 'ok', message, evidence };
}

/** Checks for requests with an unknown outcome. */
function openRequests({ known, openPrices }: AuditReading): CheckResult {
  const { length } = known.unknown;
  if (length > 0) {
    return {
      result: 'finding',
      message: `${length === 1 ? '1 request has' : `${length} requests have`} an unknown outcome, and may be billing.`,
      evidence: known.unknown.map(({ name, asked_at }) => `${name}, requested at ${asked_at}`),
      perHour: sumOf(openPrices),
      next: ['instances', 'recover'],
    };
  }
  if (known.inFlight.length > 0) {
    return unknown(
      'Another gpucloud process is waiting for a response. Run the audit again when that process exits.',
      {
        evidence: known.inFlight.map(({ name }) => `${name} is being created`),
        next: ['audit'],
      },
    );
  }
  return ok('No request has an unknown outcome.');
}

/**
 * Checks for running instances that a drive names and that this computer neither rented nor tracks.
 * An earlier command may have added them to the journal.
 */
function rentedElsewhere({ look, known }: AuditReading): CheckResult {
  const { drives, instances } = look.reading;
  if (drives === undefined || instances === undefined) {
    return unknown('Could not read the drives, which show attached instances.');
  }
  const ours = new Set(known.instances.filter(isOurs).map(({ id }) => id));
  const read = new Set(instances.rows.filter(isReadNow).map(({ id }) => id));
  const foreign = drives.flatMap(({ id: driveId, name, current_instance_id: id }) =>
    !id || ours.has(id) ? [] : [{ id, drive: `attached to drive ${name ?? driveId}` }],
  );
  const living = foreign.flatMap(({ id, drive }) => {
    const row = look.instances.find((one) => one.id === id);
    return row !== undefined && read.has(id) && mayBill(row.status) ? [{ id, row, drive }] : [];
  });
  const [first] = living;
  if (first !== undefined) {
    return {
      result: 'finding',
      message:
        'A drive is attached to an instance that this computer neither rented nor tracks. Track or terminate the instance.',
      evidence: living.map(({ row, drive }) => `${lineOf(row)}, ${drive}`),
      perHour: sumOf(living.map(({ row }) => priceIn(row.price_per_hour_snapshot))),
      next: ['instances', 'get', first.id],
    };
  }
  // Skips reading these instances: the journal shows that they are terminated.
  const over = new Set(known.instances.filter(({ archived }) => archived).map(({ id }) => id));
  const unread = foreign.filter(({ id }) => !read.has(id) && !over.has(id));
  if (unread.length > 0) {
    return unknown('A drive is attached to an unreadable instance.', {
      evidence: unread.map(({ id, drive }) => `${id}, ${drive}`),
      next: ['drives', 'list'],
    });
  }
  return ok('Every instance with an attached drive was rented or is tracked here.');
}

/** Whether the instance was rented, tracked or untracked on this computer. */
function isOurs({ origin, untracked }: KnownInstance): boolean {
  return untracked || origin !== 'read';
}

/**
 * Checks for instances past their deadline, and for instances without a deadline that have run for
 * a day.
 */
function runningLong({ look }: AuditReading): CheckResult {
  const { instances } = look.reading;
  if (instances === undefined) return unknown('Could not read the instances.');
  const [first, ...others] = findingsOf(look, 'deadline_passed', 'running_long');
  if (first !== undefined) {
    const all = [first, ...others];
    return {
      result: 'finding',
      message: 'An instance is past its deadline, or was rented over 24 h ago without a deadline.',
      evidence: all.flatMap(({ evidence }) => evidence ?? []),
      perHour: sumOf(all.map(({ row }) => priceIn(row?.price_per_hour_snapshot))),
      ...(first.next === null ? {} : { next: first.next }),
    };
  }
  const [fault] = instances.faults;
  if (fault !== undefined) {
    return unknown(
      `Could not read ${instances.faults.length} of ${instances.requested} instances: ${fault.message}`,
    );
  }
  return ok('No instance is past its deadline or has run for over 24 h without a deadline.');
}

/** Checks for instances seen TERMINATED on this computer that later ran or were charged. */
function endedButCharged({ ended }: AuditReading): CheckResult {
  const read = ended.read.flatMap(({ known, reading }) => {
    if (reading.kind !== 'there') return [];
    const { instance } = reading;
    return [{ known, instance, ...chargeAfterEnd(known, instance) }];
  });
  const lines = (rows: typeof read) =>
    rows.map(({ known, text }) => `${known.name} (${known.id}) ${text}`);
  const charged = read.filter(({ is }) => is === 'wrong');
  const [first] = charged;
  if (first !== undefined) {
    return {
      result: 'finding',
      message: 'A terminated instance is running again, or was charged after its termination.',
      evidence: lines(charged),
      perHour: sumOf(charged.map(({ instance }) => priceIn(instance.price_per_hour_snapshot))),
      next: ['instances', 'get', first.known.id],
    };
  }
  const faults = ended.read.flatMap(({ reading }) =>
    reading.kind === 'unread' ? reading.fault : [],
  );
  if (faults[0] !== undefined) {
    const instances = faults.length === 1 ? 'instance' : 'instances';
    return unknown(`Could not read ${faults.length} terminated ${instances}: ${faults[0].message}`);
  }
  const count = `checked ${ended.left === 0 ? '' : 'the newest '}${read.length}`;
  const late = read.filter(({ is }) => is === 'late');
  const names = late.map(({ known }) => known.name).join(', ');
  const lateText = late.length === 0 ? '' : ` Charged within a day after termination: ${names}.`;
  return ok(`No terminated instance was charged later (${count}).${lateText}`, lines(late));
}

const HOUR = 3_600_000;

/**
 * Describes charges after an instance's termination. The service may charge the last hour at the
 * termination.
 */
function chargeAfterEnd(
  { last }: KnownInstance,
  { status, last_billed_at: billed, terminated_at }: Instance,
): { is?: 'wrong' | 'late'; text?: string } {
  if (mayBill(status)) {
    return { is: 'wrong', text: `was TERMINATED when last seen, and is ${status} now` };
  }
  const ended = terminated_at ?? last?.seen_at;
  const [billedAt, endedAt] = [instant(billed), instant(ended)];
  if (billedAt === undefined || endedAt === undefined || billedAt <= endedAt + HOUR) return {};
  const text = `was terminated at ${ended} and charged at ${billed}`;
  return { is: billedAt <= endedAt + LATE ? 'late' : 'wrong', text };
}

/** An API key used within this many milliseconds counts as in use. */
const RECENT = 24 * HOUR;

/** Checks whether other keys are in use, since anyone with a key can rent. */
function otherKeys({ keys, look }: AuditReading): CheckResult {
  const next = ['api-keys', 'list'];
  if (keys instanceof CliError) {
    return unknown(`Could not read the API keys: ${keys.message}`, { next });
  }
  if (!keys.some(({ in_use }) => in_use === true)) {
    return unknown('Could not determine which of the API keys this command uses.', { next });
  }
  const { now } = look.reading;
  const others = keys.filter(({ in_use }) => in_use !== true);
  const used = others.flatMap(({ name, id, key_prefix, last_used_at }) => {
    const at = instant(last_used_at);
    return at === undefined || now - at >= RECENT
      ? []
      : [`${name ?? id} (${key_prefix ?? 'no prefix'}), last used ${relative(at, now)}`];
  });
  if (used.length > 0) {
    const message = 'Another API key of the account was used in the last 24 h.';
    return { result: 'finding', message, evidence: used, next };
  }
  // null means that the key was never used.
  const isTold = others.every(({ last_used_at: at }) => at === null || instant(at) !== undefined);
  return isTold
    ? ok('No other API key was used in the last 24 h.')
    : unknown('The service did not show when an API key was last used.', { next });
}

/** Maximum groups of charges to list as evidence. */
const SHOWN = 10;

function largest(groups: readonly ChargeGroup[]): string[] {
  const more = groups.length > SHOWN ? [`and ${groups.length - SHOWN} more groups`] : [];
  return [...groups.slice(0, SHOWN).map(groupText), ...more];
}

/** Checks for charges beyond the highest cost of known instances and drives. */
function unexplainedCharges({ look }: AuditReading): CheckResult {
  const { charges, unexplainedPerHour } = look.facts;
  const next = ['billing', 'transactions', '--type', 'usage-charge', '--since', '24h'];
  const why = whyUnchecked(charges);
  if (charges === undefined || why !== undefined) {
    const fault = look.reading.faults.find(({ part }) => part !== 'profile');
    const evidence = charges?.maybeDrives.gt(0)
      ? largest(charges.groups)
      : (charges?.unclear.map(groupText) ?? []);
    const isRead = fault === undefined || charges !== undefined;
    return unknown(isRead ? `${why}.` : fault.error.message, { evidence, next });
  }
  const { atMost, late, unexplained, groups } = charges;
  if (unexplained.gt(0)) {
    return {
      result: 'finding',
      message: `${unexplainedText(charges)}.`,
      evidence: largest(groups),
      perHour: unexplainedPerHour,
      next,
    };
  }
  const lateText = late.gt(0)
    ? ` This includes ${inRoubles(late)} charged within a day after a termination.`
    : '';
  return ok(
    `${chargedText(charges)}. Known instances and drives explain up to ${inRoubles(atMost)}.${lateText}`,
  );
}
