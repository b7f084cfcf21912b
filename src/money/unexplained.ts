import { type Money, money, zero } from '../rules/money.ts';

/** Something that may have been charged for, and while it may have. Milliseconds since 1970. */
export interface Chargeable {
  readonly kind: 'machine' | 'drive';
  /** Roubles an hour, a decimal string of the service. */
  readonly price: string | null | undefined;
  /** When it came into being; undefined where that is not known. */
  readonly from: number | undefined;
  /** When it surely billed no more; undefined where it may bill now. */
  readonly to: number | undefined;
}

export interface Window {
  readonly from: number;
  readonly to: number;
}

export interface Explained {
  /** Roubles: the most that all that is known can have been charged in the window. */
  readonly atMost: Money;
  /** What the charges are above that; zero where they are not. */
  readonly unexplained: Money;
}

const HOUR = 3_600_000;
/** The hours of the 7 days after which a suspended drive is deleted (API document: Drive status). */
const SUSPENDED_HOURS = 168;

/**
 * Compares the charges of a window with what is known here. The document does not say at which end
 * of an hour it is charged, nor which machine a charge is of, so each thing explains one hour more
 * than it was there; after a top-up, drives also explain the debt of their frozen time. What is
 * above that can't be of anything that is known. undefined where a price is not told.
 */
export function explain(
  charged: Money,
  known: readonly Chargeable[],
  window: Window,
  toppedUp: boolean,
): Explained | undefined {
  // In rouble-milliseconds, so that nothing is divided before the end.
  let most = zero();
  for (const { kind, price, from, to } of known) {
    const start = Math.max(from ?? window.from, window.from);
    const end = Math.min(to ?? window.to, window.to);
    if (end < window.from - HOUR || start > window.to) continue;
    const amount = money(price ?? '');
    if (!amount.ok || amount.value.lt(0)) return undefined;
    const debt = kind === 'drive' && toppedUp ? SUSPENDED_HOURS * HOUR : 0;
    most = most.plus(amount.value.times(Math.max(0, end - start) + HOUR + debt));
  }
  // Upwards to the kopeck: what is called unexplained really is.
  const atMost = most.div(HOUR).round(2, 3);
  return { atMost, unexplained: charged.gt(atMost) ? charged.minus(atMost) : zero() };
}
