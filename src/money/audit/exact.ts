import type { Api, CallOptions, User } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError, isOfOneReading } from '../../errors.ts';
import { type Listed, readKnownInstances } from '../../instances/known-instances.ts';
import type { Known } from '../../journal/index.ts';
import { inRoubles, type Money, money, priceIn, zero } from '../../rules/money.ts';
import { instanceStatus } from '../../rules/statuses.ts';
import type { AccountReading } from '../account.ts';
import { instanceItem } from '../burn.ts';
import { type Check, resultsOf } from './check.ts';
import { lineOf, sumOf } from './instances.ts';

/** The profile before and after an update that changes nothing, then the instances. */
interface ExactReading {
  readonly before: User;
  readonly updated: User;
  readonly after: User;
  readonly rows: readonly Listed[];
}

/** The result; `nameless` if the account has no name to send again. */
export type Exact = ExactReading | 'nameless' | CliError;

/**
 * Reads `reserved_balance`, which only the response to a profile update has (API document: User).
 * The update sends the current name again.
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
    const { rows } = await readKnownInstances(
      {
        all: false,
        drives: Promise.resolve(drives ?? []),
        now: context.serviceClock.now(),
        options,
      },
      api,
      context,
    );
    return { before, updated, after, rows };
  } catch (error) {
    if (!isOfOneReading(error)) throw error;
    return error;
  }
}

/** A second attempt could undo another person's change of the name. */
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

/** The funds that the service holds for instances, minus the prices of the known ones. */
export function reservedBalance(exact: Exact, account: AccountReading, known: Known): Check {
  const { ok, finding, unknown } = resultsOf('reserved_balance');
  if (exact === 'nameless') {
    const command = 'gpucloud me update --name NAME';
    const message = "The account has no name, so its profile can't be updated with the same name.";
    return unknown(message, { command });
  }
  if (exact instanceof CliError) {
    return unknown(`The reserved funds could not be read: ${exact.message}`);
  }
  const command = 'gpucloud audit --exact';
  const why = changedWhileReading(exact, account);
  if (why !== undefined) return unknown(`${why} while it was read. Audit again.`, { command });
  const reserved = money(exact.updated.reserved_balance ?? '');
  if (!reserved.ok) return unknown('The service did not show the reserved funds.');

  const holding = exact.rows.filter((row) => holds(row) === 'yes');
  const maybe = exact.rows.filter((row) => holds(row) === 'maybe');
  const cost = sumOf(holding.map((row) => priceIn(instanceItem(row).price)));
  if (cost === undefined) {
    return unknown('The price of a running instance is unknown.', {
      evidence: holding.map(lineOf),
    });
  }
  const holdsText = `The service holds ${inRoubles(reserved.value)} for instances`;
  const costText = `${inRoubles(cost)} per hour`;
  const more = reserved.value.minus(cost);
  if (more.eq(0)) return ok(`${holdsText}, exactly the hourly cost of the instances known to run.`);
  if (more.abs().lt(rounding(holding))) {
    return ok(`${holdsText}, the hourly cost of the instances known to run up to rounding.`);
  }
  if (more.lt(0)) {
    return unknown(
      `${holdsText}, less than the instances known to run cost (${costText}), so the two can't be compared.`,
      { evidence: holding.map(lineOf) },
    );
  }
  const facts = `${holdsText}. The instances known to run cost ${costText}.`;
  const hidden = untracked(known);
  const evidence = [
    ...holding.map(lineOf),
    ...maybe.map((row) => `${lineOf(row)}: may hold funds too`),
    ...hidden.map(({ name, id }) => `${name} (${id}), not tracked: may hold funds too`),
    ...known.inFlight.map(({ name }) => `${name} is being created`),
    ...known.unknown.map(({ name }) => `the request for ${name} has an unknown outcome`),
  ];
  const most = sumOf(maybe.map((row) => priceIn(instanceItem(row).price)));
  const isClear = most !== undefined && hidden.length === 0 && known.inFlight.length === 0;
  if (!isClear || more.lt(most.plus(rounding(exact.rows)))) {
    const message = `${facts} The purpose of the other ${inRoubles(more)} is unclear.`;
    return unknown(message, { evidence, command: 'gpucloud instances list' });
  }
  const rate = more.minus(most);
  const least = maybe.length === 0 ? '' : 'at least ';
  return finding(
    `${facts} Unknown instances cost ${least}${inRoubles(rate)} per hour. Look for them in the web console.`,
    { evidence, perHour: rate },
  );
}

/** Less than this is no difference: the service may hold whole kopecks for a price of more decimals. */
function rounding(rows: readonly Listed[]): Money {
  return zero().plus(rows.length).div(100);
}

/** The change; undefined if everything stayed the same. */
function changedWhileReading(
  { before, updated, after, rows }: ExactReading,
  { instances }: AccountReading,
): string | undefined {
  if (instances === undefined) return 'The instances could not be read';
  if (before.name !== updated.name || before.name !== after.name) return 'The account name changed';
  if (before.balance !== after.balance) return 'The balance changed';
  return seen(instances.rows) === seen(rows) ? undefined : 'An instance changed';
}

/** The instances that hold funds, or may. An ended one leaves the list at its first read. */
function seen(rows: readonly Listed[]): string {
  const texts = rows
    .filter((row) => holds(row) !== 'no')
    .map((row) => `${row.id} ${row.status} ${row.unread} ${instanceItem(row).price}`);
  return texts.sort().join();
}

/**
 * Whether the service holds the price of an hour for an instance: "Blocked funds held for active
 * instances" (API document: User). For a stopping, stopped or failed instance this is not
 * documented.
 */
function holds({ id, status, unread }: Listed): 'yes' | 'no' | 'maybe' {
  if (id === null) return 'no';
  const { bills } = instanceStatus(status);
  if (bills === 'no') return unread === true ? 'maybe' : 'no';
  return bills === 'yes' && status !== 'STOPPING' && unread !== true ? 'yes' : 'maybe';
}

/** Running instances that the user has untracked. */
function untracked({ instances }: Known) {
  return instances.filter(
    (one) => one.untracked && instanceStatus(one.last?.status).bills !== 'no',
  );
}
