import type { Api, CallOptions, User } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError, isOfOneReading } from '../errors.ts';
import { readKnownInstances } from '../instances/known-instances.ts';
import type { Known } from '../journal/index.ts';
import type { AccountInstance } from '../json-results/money.ts';
import { inRoubles, type Money, money, priceIn, sumOf, zero } from '../rules/money.ts';
import { instanceStatus, mayBill } from '../rules/statuses.ts';
import type { AccountReading } from './account.ts';
import type { Look } from './findings.ts';
import { instanceRows, lineOf } from './rows.ts';

export interface CheckResult {
  /** `unknown`: the check was not possible. */
  readonly result: 'ok' | 'finding' | 'unknown';
  /** The result in one or two sentences. */
  readonly message: string;
  /** The evidence, one item per line. Texts of the service are quoted. */
  readonly evidence?: readonly string[];
  /** The finding's cost in roubles per hour; undefined if unknown. */
  readonly perHour?: Money | undefined;
  /** Arguments of the next command, without "gpucloud". */
  readonly next?: readonly string[];
}

/** Returns the result of a check that was not possible. */
export function unknown(message: string, more: Partial<CheckResult> = {}): CheckResult {
  return { result: 'unknown', message, ...more };
}

/** Instances, and the profile before and after an update without effect. */
interface ExactReading {
  readonly before: User;
  readonly updated: User;
  readonly after: User;
  readonly rows: readonly AccountInstance[];
}

/** The data read, its error, or `nameless` if the account has no name to send again. */
export type Exact = ExactReading | 'nameless' | CliError;

/**
 * Reads `reserved_balance`, which only the response to a profile update contains (API document:
 * User). The update sends the current name again.
 */
export async function readExact(
  { drives }: AccountReading,
  api: Api,
  context: Context,
  options: CallOptions = {},
): Promise<Exact> {
  try {
    const before = await api.users.me(options);
    const { name } = before;
    if (name == null || name.trim() === '') return 'nameless';
    const updated = await updateOnce(name, api, options);
    const after = await api.users.me(options);
    const now = context.serviceClock.now();
    const how = { all: false, drives: Promise.resolve(drives ?? []), now, options };
    const { rows } = await readKnownInstances(how, api, context);
    return { before, updated, after, rows: instanceRows(rows, now) };
  } catch (error) {
    if (!isOfOneReading(error)) throw error;
    return error;
  }
}

/** Sends the update once: a second attempt could undo another person's change of the name. */
function updateOnce(name: string, api: Api, options: CallOptions): Promise<User> {
  let sent = false;
  return api.users.update(
    { name },
    {
      ...options,
      onSending() {
        if (sent) throw new CliError('notUnderstood', 'The update of the profile failed.');
        sent = true;
      },
    },
  );
}

/**
 * Compares the funds that the service holds for instances with the prices of the known instances.
 */
export function reservedBalance(exact: Exact, look: Look, known: Known): CheckResult {
  if (exact === 'nameless') {
    return unknown(
      'This check updates the account with its own name, but the account has no name.',
      {
        next: ['me', 'update', '--name', 'NAME'],
      },
    );
  }
  if (exact instanceof CliError) {
    return unknown(`Could not read the reserved funds: ${exact.message}`);
  }
  const why = changedWhileReading(exact, look);
  if (why !== undefined) {
    return unknown(`${why} during the check. Run the audit again.`, {
      next: ['audit', '--exact'],
    });
  }
  const reserved = money(exact.updated.reserved_balance ?? '');
  if (!reserved.ok) return unknown('The service did not show the reserved funds.');

  const holding = exact.rows.filter((row) => holds(row) === 'yes');
  const maybe = exact.rows.filter((row) => holds(row) === 'maybe');
  const cost = sumOf(holding.map(priceOf));
  if (cost === undefined) {
    return unknown('The price of a running instance is unknown.', {
      evidence: holding.map(lineOf),
    });
  }
  const holdsText = `The service holds ${inRoubles(reserved.value)} for instances`;
  const costText = `${inRoubles(cost)} per hour`;
  const more = reserved.value.minus(cost);
  if (more.eq(0) || more.abs().lt(rounding(holding))) {
    const [exactly, rounded] = more.eq(0) ? ['exactly ', ''] : ['', ' up to rounding'];
    const message = `${holdsText}, ${exactly}the hourly cost of the known running instances${rounded}.`;
    return { result: 'ok', message };
  }
  if (more.lt(0)) {
    return unknown(
      `${holdsText}, less than the known running instances cost (${costText}), so the two can't be compared.`,
      { evidence: holding.map(lineOf) },
    );
  }
  const facts = `${holdsText}. The known running instances cost ${costText}.`;
  const hidden = untracked(known);
  const evidence = [
    ...holding.map(lineOf),
    ...maybe.map((row) => `${lineOf(row)}: may hold funds too`),
    ...hidden.map(({ name, id }) => `${name} (${id}), not tracked: may hold funds too`),
    ...known.inFlight.map(({ name }) => `${name} is being created`),
    ...known.unknown.map(({ name }) => `the request for ${name} has an unknown outcome`),
  ];
  const most = sumOf(maybe.map(priceOf));
  const isClear = most !== undefined && hidden.length === 0 && known.inFlight.length === 0;
  if (!isClear || more.lt(most.plus(rounding(exact.rows)))) {
    const message = `${facts} The purpose of the other ${inRoubles(more)} is unclear.`;
    return unknown(message, { evidence, next: ['instances', 'list'] });
  }
  const rate = more.minus(most);
  const least = maybe.length === 0 ? '' : 'at least ';
  const message = `${facts} Unknown instances cost ${least}${inRoubles(rate)} per hour. Look for them in the web console.`;
  return { result: 'finding', message, evidence, perHour: rate };
}

function priceOf({ price_per_hour_snapshot: price }: AccountInstance): Money | undefined {
  return priceIn(price);
}

/**
 * Ignores smaller differences: the service may hold whole kopecks for a price with more decimals.
 */
function rounding(rows: readonly AccountInstance[]): Money {
  return zero().plus(rows.length).div(100);
}

/** Returns a description of the change during the check; undefined if nothing changed. */
function changedWhileReading(
  { before, updated, after, rows }: ExactReading,
  { reading, instances }: Look,
): string | undefined {
  if (reading.instances === undefined) return 'The instances were unreadable';
  if (before.name !== updated.name || before.name !== after.name) return 'The account name changed';
  if (before.balance !== after.balance) return 'The balance changed';
  return seen(instances) === seen(rows) ? undefined : 'An instance changed';
}

/**
 * Lists the instances that hold or may hold funds. A terminated instance leaves the list once its
 * status is read.
 */
function seen(rows: readonly AccountInstance[]): string {
  const texts = rows
    .filter((row) => holds(row) !== 'no')
    .map((row) => `${row.id} ${row.status} ${row.unread} ${row.price_per_hour_snapshot}`);
  return texts.sort().join();
}

/**
 * Whether the service holds the price of an hour for an instance: "Blocked funds held for active
 * instances" (API document: User). The document doesn't say so for a stopping, stopped or failed
 * instance.
 */
function holds({ id, status, unread }: AccountInstance): 'yes' | 'no' | 'maybe' {
  if (id === null) return 'no';
  return unread ? 'maybe' : instanceStatus(status).reserves;
}

/** Returns running instances that the user has untracked. */
function untracked({ instances }: Known) {
  return instances.filter((one) => one.untracked && mayBill(one.last?.status));
}
