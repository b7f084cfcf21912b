import type { Api, CallOptions, Instance, InstanceEvent, Transaction } from '../api/index.ts';
import { pagesOf } from '../api/pages.ts';
import { lazy } from '../lazy.ts';
import { instant } from '../output/time.ts';
import { type Money, priceIn, zero } from '../rules/money.ts';
import * as z from '../zod.ts';
import { type Ledger, readRecentHistory } from './history.ts';
import { type Heading, postingOf } from './ledger.ts';

/**
 * What an instance's log shows of its money. `open`: a later read may show more. `unknown`: no later
 * read can prove the cost.
 */
export type Account =
  | { readonly kind: 'closed'; readonly cost: Money; readonly payments: readonly Payment[] }
  | { readonly kind: 'open' }
  | { readonly kind: 'unknown' };

export interface Payment {
  readonly heading: Extract<Heading, 'charged' | 'refunded'>;
  readonly amount: Money;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * The payload of a BILLING event. The API document names the three financial actions, but not the
 * payload: any other one makes the cost unknown.
 */
const payload = lazy(() =>
  z.looseObject({
    action: z.enum(['reserve', 'reserve_failed', 'release', 'charge', 'refund']),
    amount: z.string(),
  }),
);

/** Milliseconds between an event, its transaction and its instance's creation. */
const APART = 60_000;

/**
 * Adds up the BILLING events of an instance. The account is closed once every reserved rouble was
 * charged or returned (API document: terminate, "unused reserved funds for the current hour
 * returned"), so that no charge is missing. It must begin with the reservation of the creation
 * (API document: POST /instances): a service may drop old events, whose charges would be missing.
 */
export function accountOf(
  events: readonly Pick<InstanceEvent, 'type' | 'payload' | 'created_at'>[],
  created_at: Instance['created_at'],
): Account {
  const created = instant(created_at) ?? Number.NaN;
  let first = Number.POSITIVE_INFINITY;
  const sums = { reserve: zero(), reserve_failed: zero(), release: zero() };
  const paid = { charge: zero(), refund: zero() };
  const payments: Payment[] = [];
  for (const event of events.filter(({ type }) => type === 'BILLING')) {
    const read = payload().safeParse(event.payload);
    const amount = read.success ? priceIn(read.data.amount) : undefined;
    const at = instant(event.created_at);
    if (!read.success || amount === undefined || at === undefined) return { kind: 'unknown' };
    const { action } = read.data;
    if (action === 'charge' || action === 'refund') {
      paid[action] = paid[action].plus(amount);
      payments.push({ heading: action === 'charge' ? 'charged' : 'refunded', amount, at });
    } else {
      sums[action] = sums[action].plus(amount);
      if (action === 'reserve') first = Math.min(first, at);
    }
  }
  if (paid.refund.gt(paid.charge)) return { kind: 'unknown' };
  if (!(Math.abs(first - created) <= APART)) return { kind: 'unknown' };
  if (!sums.reserve.eq(paid.charge.plus(sums.release))) return { kind: 'open' };
  return { kind: 'closed', cost: paid.charge.minus(paid.refund), payments };
}

/**
 * Whether the transactions of the account have every payment of an instance's log. They don't name
 * the instance, but their types and amounts are documented.
 */
export function areBooked(payments: readonly Payment[], entries: readonly Transaction[]): boolean {
  const left = new Set(entries);
  return payments.every(({ heading, amount, at }) => {
    const found = [...left].find((entry) => {
      const posting = postingOf(entry);
      const time = Number(instant(entry.created_at));
      const isOf = posting.counts && posting.heading === heading && posting.amount.eq(amount);
      return isOf && Math.abs(time - at) <= APART;
    });
    return found !== undefined && left.delete(found);
  });
}

/** Page size to request, and the pages of a log that is still read. */
const [PAGE, MOST_PAGES] = [100, 10];

/**
 * Reads what an ended instance cost: its charges minus its refunds. Returns `open` if the service
 * may show more later.
 */
export async function readCost(
  { id, created_at }: Pick<Instance, 'id' | 'created_at'>,
  api: Ledger & { readonly instances: Pick<Api['instances'], 'events'> },
  options: CallOptions,
): Promise<Money | Exclude<Account['kind'], 'closed'>> {
  const events: InstanceEvent[] = [];
  const read = (page: number) => api.instances.events(id, { page, limit: PAGE }, options);
  for await (const { number, fresh, isLast } of pagesOf(read, { what: 'events' })) {
    events.push(...fresh);
    if (number === MOST_PAGES && !isLast) return 'unknown';
  }
  const account = accountOf(events, created_at);
  if (account.kind !== 'closed') return account.kind;
  const { payments, cost } = account;
  if (payments.length === 0) return cost;
  const first = Math.min(...payments.map(({ at }) => at));
  const { entries } = await readRecentHistory(api, first - APART, options);
  return areBooked(payments, entries) ? cost : 'open';
}
