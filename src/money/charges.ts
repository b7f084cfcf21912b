import type { Drive, Instance, Transaction } from '../api/index.ts';
import { isReadNow, type Listed } from '../instances/known-instances.ts';
import type { Reading } from '../instances/read.ts';
import type { SeenInstance } from '../journal/index.ts';
import { instant } from '../output/time.ts';
import { type Money, priceIn, zero } from '../rules/money.ts';
import { GONE, isTerminated } from '../rules/statuses.ts';
import { postingOf } from './ledger.ts';
import { SEVEN_DAYS } from './rows.ts';

/** Milliseconds since 1970. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Charges in a window compared with the costs known to this computer. All amounts are RUB. */
export interface CheckedCharges extends Window {
  /** All charges minus all refunds; zero if the refunds are higher. */
  readonly charged: Money;
  readonly refunded: Money;
  /** The highest possible charges for all known resources in the window, late charges included. */
  readonly atMost: Money;
  /** Charges that only late billing of terminated instances explains. */
  readonly late: Money;
  /** The charges above `atMost`; zero if there are none. */
  readonly unexplained: Money;
  /**
   * The charges above `atMost` after a drive changed. They may be its charges at an earlier price,
   * which the service does not show, so `unexplained` does not contain them.
   */
  readonly maybeDrives: Money;
  /** Groups without a matching known price come first, then larger sums. */
  readonly groups: readonly ChargeGroup[];
  /** Payments of an undocumented type, grouped by type; not part of `charged`. */
  readonly unclear: readonly ChargeGroup[];
}

/** Charges with the same description and amount. gpucloud does not interpret the description. */
export interface ChargeGroup {
  readonly description: string;
  readonly amount: Money;
  readonly count: number;
}

/** A possibly charged resource, and its lifetime. */
export interface Chargeable {
  readonly kind: 'instance' | 'drive';
  /** RUB per hour, the service's decimal string. */
  readonly price: string | null | undefined;
  /** Creation time; undefined if unknown. */
  readonly from: number | undefined;
  /** When the resource certainly stopped billing; undefined if it may bill now. */
  readonly to: number | undefined;
  /** Time of the service's last charge for an instance. */
  readonly billedAt?: number | undefined;
}

export function instanceCharge(row: Listed): Chargeable {
  const now = isReadNow(row) ? row : undefined;
  return {
    kind: 'instance',
    price: row.price_per_hour_snapshot,
    from: instant(row.created_at),
    to: row.status === GONE ? lastSeen(row.last_seen_at) : endOf(now, undefined),
    billedAt: instant(now?.last_billed_at),
  };
}

/**
 * Returns the data to explain charges of an archived instance, and of its new read if there is one.
 * A missing instance explains no charge after the last read that found it. If the new read failed,
 * the time of the termination is unknown.
 */
export function archivedCharge(last: SeenInstance, reading: Reading | undefined): Chargeable {
  const seen = instant(last.terminated_at) ?? lastSeen(last.seen_at);
  const instance = reading?.kind === 'there' ? reading.instance : undefined;
  const isUnknown = reading?.kind === 'unread' && !isTerminated(last.status);
  return {
    kind: 'instance',
    price: last.price_per_hour_snapshot,
    from: instant(last.created_at),
    to: isUnknown ? undefined : instance === undefined ? seen : endOf(instance, seen),
    billedAt: instant(instance?.last_billed_at),
  };
}

/** Returns undefined if the instance may run. */
function endOf(instance: Instance | undefined, seen: number | undefined): number | undefined {
  return isTerminated(instance?.status) ? (instant(instance?.terminated_at) ?? seen) : undefined;
}

/** Returns when the instance was last seen. A never observed instance explains no charges. */
function lastSeen(seen_at: string | null | undefined): number {
  return instant(seen_at) ?? Number.NEGATIVE_INFINITY;
}

export function driveCharge({ price_per_hour, created_at }: Drive): Chargeable {
  return { kind: 'drive', price: price_per_hour, from: instant(created_at), to: undefined };
}

const HOUR = 3_600_000;
/** In hours. A long window reveals small charges, and a short window reveals new charges. */
const WINDOWS = [24, 3] as const;
export const LONGEST_WINDOW = WINDOWS[0] * HOUR;

/**
 * Whether the drive changed since its creation, late enough for the windows to contain a charge at
 * its earlier price.
 */
export function isChanged({ created_at, updated_at }: Drive, now: number): boolean {
  const at = instant(updated_at) ?? 0;
  return at >= now - LONGEST_WINDOW - HOUR && at !== instant(created_at);
}

/** Returns the charges without a verdict on those that known resources do not explain. */
export function withoutVerdict(charges: CheckedCharges): CheckedCharges {
  return { ...charges, unexplained: zero(), maybeDrives: charges.unexplained };
}

/**
 * Returns the windows to check in a history that was read back to `from`. A window of less than a
 * day is still useful. A window of less than an hour is not, since a whole hour's charge may fall
 * into it.
 */
export function windowsOf(from: number, now: number): Window[] {
  const starts = new Set(WINDOWS.map((hours) => Math.max(now - hours * HOUR, from)));
  return [...starts]
    .filter((start) => now - start >= HOUR)
    .map((start) => ({ from: start, to: now }));
}

function isIn(window: Window, at: number): boolean {
  return at > window.from && at <= window.to;
}

/**
 * Returns a charge or refund of a window whose amount is unreadable, or whose time is: it may be in
 * the window. No sum is right without it.
 */
export function unreadableCharge(
  window: Window,
  entries: readonly Transaction[],
): Transaction | undefined {
  return entries.find((entry) => {
    if (entry.type !== 'USAGE_CHARGE' && entry.type !== 'REFUND') return false;
    const at = instant(entry.created_at);
    if (at !== undefined && !isIn(window, at)) return false;
    const posting = postingOf(entry);
    return at === undefined || (!posting.counts && posting.why === 'amount');
  });
}

/** Returns undefined if a price is unknown, or if a charge or refund is unreadable. */
export function checkCharges(
  window: Window,
  known: readonly Chargeable[],
  entries: readonly Transaction[],
): CheckedCharges | undefined {
  const sums = { charged: zero(), refunded: zero() };
  let toppedUp = false;
  const [groups, unclear] = [new Map<string, ChargeGroup>(), new Map<string, ChargeGroup>()];
  if (unreadableCharge(window, entries) !== undefined) return undefined;
  for (const entry of entries) {
    const at = instant(entry.created_at);
    if (at === undefined || !isIn(window, at)) continue;
    const posting = postingOf(entry);
    if (!posting.counts) continue;
    const { heading, amount, direction } = posting;
    if (heading === 'charged' || heading === 'refunded') sums[heading] = sums[heading].plus(amount);
    if (heading === 'charged') addTo(groups, entry.description ?? '', amount);
    if (heading === 'other' && direction !== 'INCOMING') addTo(unclear, entry.type ?? '', amount);
    toppedUp ||= heading === 'deposited' || heading === 'bonus';
  }
  const usual = explainedBy(known, window, toppedUp);
  if (usual === undefined) return undefined;
  const charged = above(sums.charged, sums.refunded);
  const beyond = above(charged, usual);
  const late = lateBy(known, window);
  const unexplained = above(beyond, late);
  return {
    ...window,
    charged,
    refunded: sums.refunded,
    atMost: usual.plus(late),
    late: beyond.minus(unexplained),
    unexplained,
    maybeDrives: zero(),
    groups: sorted([...groups.values()], known),
    unclear: [...unclear.values()],
  };
}

function above(amount: Money, least: Money): Money {
  return amount.gt(least) ? amount.minus(least) : zero();
}

function addTo(groups: Map<string, ChargeGroup>, description: string, amount: Money): void {
  const key = `${amount.toFixed()} ${description}`;
  const count = (groups.get(key)?.count ?? 0) + 1;
  groups.set(key, { description, amount, count });
}

function sorted(groups: readonly ChargeGroup[], known: readonly Chargeable[]): ChargeGroup[] {
  const prices = new Set(known.map((one) => priceIn(one.price)?.toFixed()));
  const isKnown = ({ amount }: ChargeGroup) => Number(prices.has(amount.toFixed()));
  const sum = ({ amount, count }: ChargeGroup) => amount.times(count);
  return [...groups].sort((a, b) => isKnown(a) - isKnown(b) || sum(b).cmp(sum(a)));
}

/**
 * Returns the highest possible charges for all known resources in a window, or undefined if a price
 * is unknown. The document doesn't say whether an hour is charged at its start or end, or what a
 * charge is for. So each resource explains one hour more than its lifetime.
 */
function explainedBy(
  known: readonly Chargeable[],
  window: Window,
  toppedUp: boolean,
): Money | undefined {
  // Counts in rouble-milliseconds, so that only the last step divides.
  let most = zero();
  for (const one of known) {
    const debt = debtOf(one, window, toppedUp);
    const time = timeIn(window, one) + debt;
    if (time === 0) continue;
    const amount = priceIn(one.price);
    if (amount === undefined) return undefined;
    most = most.plus(amount.times(time));
  }
  // Rounds up, so that a rounding error never counts as unexplained.
  return most.div(HOUR).round(2, 3);
}

/** Returns the chargeable part of a window, in milliseconds. */
function timeIn(window: Window, { from, to }: Pick<Chargeable, 'from' | 'to'>): number {
  const start = Math.max(from ?? window.from, window.from);
  const end = Math.min(to ?? window.to, window.to);
  if (end < window.from - HOUR || start > window.to) return 0;
  return Math.max(0, end - start) + HOUR;
}

/** Milliseconds after an instance's termination in which the service may still charge it. */
export const LATE = 24 * HOUR;

/**
 * Returns the highest late charges of terminated instances in the window. These are their last
 * hour, or all hours up to the last charge that the service shows. An unknown price adds nothing.
 */
function lateBy(known: readonly Chargeable[], window: Window): Money {
  return known
    .reduce(
      (sum, one) => sum.plus((priceIn(one.price) ?? zero()).times(lateIn(window, one))),
      zero(),
    )
    .div(HOUR)
    .round(2, 3);
}

function lateIn(window: Window, one: Chargeable): number {
  const { from, to, billedAt = 0 } = one;
  if (one.kind !== 'instance' || to === undefined || to < window.from - LATE) return 0;
  const until = Math.min(Math.max(to, billedAt), to + LATE);
  return Math.max(HOUR, timeIn(window, { from, to: until })) - timeIn(window, one);
}

/**
 * Returns the milliseconds of unpaid time for which a drive can be charged in a window. The
 * document says "debt for the frozen period accumulates and is charged on top-up" (API document:
 * Drive status). Never more than the drive's lifetime: at most the 7 days after which the service
 * deletes it, if its creation is unknown.
 */
function debtOf({ kind, from }: Chargeable, window: Window, toppedUp: boolean) {
  if (kind !== 'drive' || !toppedUp) return 0;
  return from === undefined ? SEVEN_DAYS : Math.max(0, window.to - from);
}
