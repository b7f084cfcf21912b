import type { Context, Session } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type {
  Journal,
  KnownInstance,
  OpenRequest,
  RentalRequest,
  Rescue,
  SessionMark,
} from '../../journal/index.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { instant, minuteText } from '../../output/time.ts';
import { inRoubles, type Money, money, priceIn, startedHours, zero } from '../../rules/money.ts';
import { isTerminated, mayBill } from '../../rules/statuses.ts';
import { readAll } from './preflight.ts';

/** Milliseconds: two passes of a scheduled `reap`, which may end an instance that late. */
export const LATE = 10 * 60_000;

/** Returns how many hours may be charged until a deadline, in milliseconds since 1970. */
export function hoursUntil(deadline: number, now: number): number {
  return startedHours(deadline + LATE - now);
}

/** What the instances of a session cost, and which of them may bill. */
export interface Purse {
  /** What ended instances cost at most, and what the others reserved. */
  readonly committed: Money;
  readonly living: readonly KnownInstance[];
  /** Requests that may have rented another instance. */
  readonly open: readonly OpenRequest[];
  readonly rented: readonly KnownInstance[];
}

/**
 * Returns the mark of a session's request: its highest price for every hour started until its
 * deadline. Throws CliError('usage', code `guard`) if the cost has no limit.
 */
export function markOf(
  { name, deadline }: Pick<RentalRequest, 'name' | 'deadline'>,
  price: string | null | undefined,
  session: Session,
  { serviceClock }: Pick<Context, 'serviceClock'>,
): SessionMark {
  const limit = priceIn(price);
  if (limit === undefined) {
    throw refused(`The price of ${name} is unknown.`, 'set a price limit: --max-price RUB');
  }
  const end = Date.parse(String(deadline));
  if (Number.isNaN(end)) throw refused(`${name} has no deadline.`, 'add --terminate-after 1h');
  if (end > session.endsAt) {
    throw refused(
      `The session ends at ${minuteText(session.endsAt)}, before the deadline of ${name}.`,
      'set an earlier deadline, or none: then the session sets it',
    );
  }
  const hours = hoursUntil(end, serviceClock.now());
  return { id: session.id, call: session.call, price: limit.toFixed(), hours };
}

/** Returns a check of marked requests against the session's limits; see guardOf. */
export async function purseGuard(
  requests: readonly Reserving[],
  openJournal: () => Promise<Journal>,
  context: Context,
): Promise<((own?: string) => Promise<void>) | undefined> {
  const { session } = context.host;
  if (session === undefined) return undefined;
  const journal = await openJournal();
  // An ended instance costs less than it reserved, but only its TERMINATED status shows how much.
  const { rented } = await purseOf(session, journal);
  const unended = rented.filter(({ last }) => !isTerminated(last?.status));
  await readAll(unended, context);
  return async (own) => {
    const purse = await purseOf(session, journal, own);
    checkNumber(purse, requests.length, session);
    checkCost(purse, requests, session);
  };
}

/** Reads what a session rented. Does not count the request with the UID `own`. */
export async function purseOf(
  { id }: Pick<Session, 'id'>,
  journal: Journal,
  own?: string,
): Promise<Purse> {
  // Untracked instances are archived too, and may bill.
  const { instances, unknown, inFlight } = await journal.read({ archived: true });
  const rented = instances.filter(({ session }) => session?.id === id);
  const made = new Set(rented.map(({ request }) => request));
  const open = [...unknown, ...inFlight].filter(
    ({ uid, session }) => session?.id === id && uid !== own && !made.has(uid),
  );
  const costs = [...rented.map(costOf), ...open.map((request) => reservedBy(request))];
  return {
    committed: costs.reduce((sum, cost) => sum.plus(cost), zero()),
    living: rented.filter(({ last }) => mayBill(last?.status)),
    open,
    rented,
  };
}

/** Returns what an ended instance cost at most, otherwise what the instance reserved. */
function costOf({
  last,
  session,
  rescue,
}: Pick<KnownInstance, 'last' | 'session' | 'rescue'>): Money {
  const price = priceIn(last?.price_per_hour_snapshot);
  const created = instant(last?.created_at);
  const ended = isTerminated(last?.status) ? instant(last?.terminated_at) : undefined;
  if (price === undefined || created === undefined || ended === undefined) {
    return reservedBy({ session, rescue: rescue?.wanted }, price);
  }
  return price.times(startedHours(ended - created));
}

type Reserving = Pick<RentalRequest, 'name' | 'session' | 'rescue'>;

/**
 * Returns what an instance may cost until its deadline, and until its `--rescue` has ended. Counts a
 * price above the limit in full, if the instance could not be terminated.
 */
function reservedBy(
  { session: mark, rescue }: Pick<Reserving, 'session' | 'rescue'>,
  price = zero(),
): Money {
  const limit = priceIn(mark?.price) ?? zero();
  const most = price.gt(limit) ? price : limit;
  return most.times(mark?.hours ?? 0).plus(rescueCost(rescue, most));
}

/** A budget may end in the middle of an hour, which is charged in full. */
export function rescueCost(rescue: Pick<Rescue, 'budget'> | undefined, price: Money): Money {
  if (rescue === undefined) return zero();
  if (rescue.budget === null) return price;
  const budget = money(rescue.budget);
  return budget.ok && budget.value.gt(0) ? budget.value.plus(price) : zero();
}

function checkNumber({ living, open }: Purse, more: number, { maxInstances }: Session): void {
  const names = [...living, ...open].map(({ name }) => name).sort();
  if (maxInstances === undefined || names.length + more <= maxInstances) return;
  const those = names.length === 0 ? '' : `: ${names.join(', ')}`;
  throw refused(
    `The session allows ${maxInstances} ${maxInstances === 1 ? 'instance' : 'instances'}, and ${names.length} may be running${those}. The request adds ${more}.`,
    `terminate one: ${gpucloud('instances', 'terminate', 'NAME')}`,
  );
}

function checkCost(
  { committed }: Purse,
  requests: readonly Reserving[],
  { maxCost }: Session,
): void {
  const asked = requests.reduce((sum, request) => sum.plus(reservedBy(request)), zero());
  if (committed.plus(asked).lte(maxCost)) return;
  const names = requests.map(({ name }) => name).join(', ');
  const isRescued = requests.some(({ rescue }) => rescue !== undefined);
  const until = isRescued ? 'its --rescue has ended' : 'the deadline';
  const lower = isRescued ? '--max-price or --rescue-budget' : '--max-price';
  throw refused(
    `The session may spend ${inRoubles(maxCost)}. ${inRoubles(committed)} is spent or reserved, and ${names} may cost ${inRoubles(asked)} until ${until}.`,
    `set an earlier deadline or a lower ${lower}, or terminate an instance of this session`,
  );
}

/** Builds the error for a request that breaks a limit of the profile or of the session. */
export function refused(message: string, hint: string): CliError {
  return new CliError('usage', `${message} Nothing was sent.`, { code: 'guard', hint });
}
