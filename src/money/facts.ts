import type { BurnResult, ChargesResult, HoursLeft } from '../json-results/money.ts';
import { spanText } from '../output/time.ts';
import { clamp } from '../output/width.ts';
import { inRoubles, kopecksText, type Money, money, zero } from '../rules/money.ts';
import type { AccountReading } from './account.ts';
import type { ChargeGroup, CheckedCharges, Window } from './charges.ts';
import { burnOf, driveItem, instanceItem } from './rows.ts';

export type MoneyFacts = ReturnType<typeof moneyFacts>;

const HOUR = 3_600_000;
/** Hours in a day, and in a month of 30 days. */
const HOURS = { day: 24, month: 720 } as const;

/** Computes an account's costs, and how long its balance lasts. */
export function moneyFacts({ user, instances, drives, charges, now }: AccountReading) {
  const balance = money(user?.balance ?? '');
  const burn = burnOf([
    ...(instances?.rows ?? []).map(instanceItem),
    ...(drives ?? []).map(driveItem),
  ]);
  const unexplainedPerHour =
    charges === undefined
      ? zero()
      : charges.unexplained
          .times(HOUR)
          .div(charges.to - charges.from)
          .round(2, 3);
  const perHour = burn.perHour.plus(unexplainedPerHour);
  return {
    /** undefined if the profile was not read, or if its balance is not an amount. */
    balance: balance.ok ? balance.value : undefined,
    burn,
    /** Which parts of the burn rate could be read. */
    read: { instances: instances?.isPartial === false, drives: drives !== undefined },
    charges,
    /** RUB per hour of unexplained charges; zero if there are none. */
    unexplainedPerHour,
    /** The burn rate plus unexplained charges. */
    perHour,
    /** undefined without a balance, or if the burn rate is zero. */
    runway: balance.ok ? runwayOf(balance.value, perHour, now) : undefined,
  };
}

/** Returns the burn rate as JSON; scripts rely on this form. */
export function burnJson({ burn, read }: Pick<MoneyFacts, 'burn' | 'read'>): BurnResult {
  const { perHour, instances, drives, atMost, uncounted } = burn;
  const known = (amount: Money | undefined, isRead: boolean) =>
    amount === undefined || !isRead ? null : kopecksText(amount);
  const isWhole = read.instances && read.drives;
  return {
    per_hour: known(perHour, isWhole),
    per_day: known(perHour.times(HOURS.day), isWhole),
    per_month: known(perHour.times(HOURS.month), isWhole),
    instances_per_hour: known(instances, read.instances),
    drives_per_hour: known(drives, read.drives),
    per_hour_at_most: known(atMost, isWhole),
    not_counted: uncounted.map(({ item, why }) => ({
      kind: item.kind,
      id: item.id,
      name: item.name,
      status: item.status,
      price_per_hour: item.price,
      reason: why === 'price' ? 'price_not_told' : 'billing_not_documented',
    })),
  };
}

export function runwayJson(facts: MoneyFacts): HoursLeft {
  const unknown = whyNoRunway(facts);
  const known = unknown === null ? facts.runway : undefined;
  return {
    hours_left: known === undefined ? null : hoursText(known),
    hours_left_unknown: unknown,
    runs_out_at: known?.endsAt === undefined ? null : new Date(known.endsAt).toISOString(),
  };
}

function whyNoRunway({ balance, burn, read, runway }: MoneyFacts) {
  if (balance === undefined) return 'balance_not_told';
  if (!read.instances || !read.drives) return 'not_read';
  // An unread instance, or a request with an unknown outcome, may bill too.
  if (burn.atMost === undefined) return 'price_not_told';
  return runway === undefined ? 'nothing_is_spent' : null;
}

const COULD_NOT_CHECK = 'Could not check the charges for unknown instances';
const UNCHECKED = `${COULD_NOT_CHECK} (a price is missing, or the history is too long or unsorted)`;

/** Formats a window's length: `24 h`. */
function windowText({ from, to }: Window): string {
  const hours = (to - from) / HOUR;
  return Number.isInteger(hours) ? `${hours} h` : spanText(Math.floor((to - from) / 1000));
}

/** Formats `12 charges of 89.90 RUB: "Rent of instance box"`. */
export function groupText({ count, amount, description }: ChargeGroup): string {
  const charges = count === 1 ? '1 charge' : `${count} charges`;
  const text = description === '' ? 'no description' : `"${clamp(description, 80)}"`;
  return `${charges} of ${inRoubles(amount)}: ${text}`;
}

/**
 * Returns why the charges can't reveal unknown instances, without a full stop; undefined if they
 * can.
 */
export function whyUnchecked(charges: CheckedCharges | undefined): string | undefined {
  if (charges === undefined) return UNCHECKED;
  if (charges.maybeDrives.gt(0)) {
    const { atMost } = charges;
    return `${COULD_NOT_CHECK}: ${chargedText(charges)}, known instances and drives cost at most ${inRoubles(atMost)}, and a drive changed in the last 24 h (the service does not show its earlier price)`;
  }
  if (charges.unclear.length === 0 || charges.unexplained.gt(0)) return undefined;
  const count = charges.unclear.reduce((sum, group) => sum + group.count, 0);
  return `${COULD_NOT_CHECK}: ${count === 1 ? '1 payment has' : `${count} payments have`} an undocumented type`;
}

/** Describes the unexplained charges, without a full stop. */
export function unexplainedText(charges: CheckedCharges): string {
  const { atMost } = charges;
  return `Something unknown may be billing: ${chargedText(charges)}, but known instances and drives cost at most ${inRoubles(atMost)}`;
}

/** Formats `90.00 ₽ was charged in the last 24 h after refunds of 10.00 ₽`. */
export function chargedText(charges: CheckedCharges): string {
  const { charged, refunded } = charges;
  const after = refunded.gt(0) ? ` after refunds of ${inRoubles(refunded)}` : '';
  return `${inRoubles(charged)} was charged in the last ${windowText(charges)}${after}`;
}

export function chargesJson(charges: CheckedCharges | undefined): ChargesResult {
  return charges === undefined || charges.maybeDrives.gt(0)
    ? null
    : {
        from: new Date(charges.from).toISOString(),
        to: new Date(charges.to).toISOString(),
        charged: kopecksText(charges.charged),
        refunded: kopecksText(charges.refunded),
        explained_at_most: kopecksText(charges.atMost),
        unexplained: kopecksText(charges.unexplained),
      };
}

/** How long a balance lasts at a rate. */
interface Runway {
  /** Whole seconds, rounded down; exact at any size. */
  readonly seconds: Money;
  /** Milliseconds since 1970; undefined after the year 9999. */
  readonly endsAt: number | undefined;
}

/** End of the year 9999: later dates need a five-digit year. */
const LAST = Date.UTC(10_000, 0, 1) - 1;

/**
 * Divides a balance by a rate in RUB per hour. Returns undefined if the rate is zero. A balance of
 * zero or below lasts zero seconds.
 */
export function runwayOf(balance: Money, perHour: Money, now: number): Runway | undefined {
  if (perHour.lte(0)) {
    return undefined;
  }
  const seconds = balance.lte(0) ? zero() : wholeQuotient(balance.times(3600), perHour);
  const end = seconds.times(1000).plus(now);
  return { seconds, endsAt: end.gt(LAST) ? undefined : Number(end.toFixed()) };
}

/** Formats hours with two decimals, rounded down: `3.12`. */
export function hoursText({ seconds }: Pick<Runway, 'seconds'>): string {
  return wholeQuotient(seconds, zero().plus(36)).div(100).toFixed(2);
}

/** Rounds down first: division rounds after 20 decimals and could raise the whole part. */
function wholeQuotient(dividend: Money, divisor: Money): Money {
  const quotient = dividend.div(divisor).round(0, 0);
  return quotient.times(divisor).gt(dividend) ? quotient.minus(1) : quotient;
}
