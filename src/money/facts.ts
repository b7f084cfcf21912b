import { spanText } from '../output/time.ts';
import { inRoubles, kopecksText, type Money, money, zero } from '../rules/money.ts';
import type { AccountReading } from './account.ts';
import { burnOf, driveItem, instanceItem } from './burn.ts';
import type { CheckedCharges } from './charges.ts';
import { hoursText, runwayOf } from './runway.ts';

export type MoneyFacts = ReturnType<typeof moneyFacts>;

const HOUR = 3_600_000;
/** Hours of a day, and of the 30 days that stand for a month. */
const HOURS = { day: 24, month: 720 } as const;

/** What an account costs and how long its balance lasts. */
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
    /** undefined if the profile was not read or its balance is not an amount. */
    balance: balance.ok ? balance.value : undefined,
    burn,
    /** Which parts of the burn rate could be read. */
    read: { instances: instances !== undefined, drives: drives !== undefined },
    charges,
    /** Roubles per hour of charges that nothing known here explains; zero if there are none. */
    unexplainedPerHour,
    /** The burn rate and what is unexplained. */
    perHour,
    /** undefined without a balance, and if nothing is spent. */
    runway: balance.ok ? runwayOf(balance.value, perHour, now) : undefined,
  };
}

/** The burn rate in JSON: a contract with scripts. */
export function burnJson({ burn, read }: Pick<MoneyFacts, 'burn' | 'read'>) {
  const { perHour, instances, drives, atMost, uncounted } = burn;
  const known = (amount: Money | undefined, isRead: boolean) =>
    amount === undefined || !isRead ? null : kopecksText(amount);
  const isWhole = read.instances && read.drives;
  return {
    /** null if instances or drives could not be read, as the two below. */
    per_hour: known(perHour, isWhole),
    per_day: known(perHour.times(HOURS.day), isWhole),
    /** Of 30 days. */
    per_month: known(perHour.times(HOURS.month), isWhole),
    instances_per_hour: known(instances, read.instances),
    drives_per_hour: known(drives, read.drives),
    /** With the full price of what may bill; also null if one of its prices is not known. */
    per_hour_at_most: known(atMost, isWhole),
    /** What is missing in `per_hour`. */
    not_counted: uncounted.map(({ item, why }) => ({
      kind: item.kind,
      id: item.id,
      name: item.name,
      status: item.status,
      price_per_hour: item.price,
      /** Its price is not known, or the published API does not say whether this status bills. */
      reason: why === 'price' ? 'price_not_told' : 'billing_not_documented',
    })),
  };
}

export function runwayJson(facts: MoneyFacts) {
  const unknown = whyNoRunway(facts);
  const known = unknown === null ? facts.runway : undefined;
  return {
    /** Rounded down to two decimals; null if it is not known. */
    hours_left: known === undefined ? null : hoursText(known),
    /** Why `hours_left` is null. */
    hours_left_unknown: unknown,
    /** Also null beyond the year 9999. */
    runs_out_at: known?.endsAt === undefined ? null : new Date(known.endsAt).toISOString(),
  };
}

function whyNoRunway({ balance, burn, read, runway }: MoneyFacts) {
  if (balance === undefined) return 'balance_not_told';
  if (!read.instances || !read.drives) return 'not_read';
  // One that could not be read, and a request of unknown outcome, may bill as well.
  if (burn.atMost === undefined) return 'price_not_told';
  return runway === undefined ? 'nothing_is_spent' : null;
}

export const UNCHECKED =
  'The charges could not be compared with what is known here (a price is not told, or the history is too long or in no order)';

/** Without a full stop. */
export function unexplainedText({ charged, atMost, from, to }: CheckedCharges): string {
  const hours = (to - from) / HOUR;
  const span = Number.isInteger(hours) ? `${hours} h` : spanText(Math.floor((to - from) / 1000));
  return `Something unknown may be billing: ${inRoubles(charged)} was charged in the last ${span}, and all that is known here explains ${inRoubles(atMost)} at most`;
}

/** The compared charges in JSON. */
export function chargesJson(charges: CheckedCharges | undefined) {
  return charges === undefined
    ? null
    : {
        from: new Date(charges.from).toISOString(),
        to: new Date(charges.to).toISOString(),
        charged: kopecksText(charges.charged),
        /** The most that everything known here can have been charged. */
        explained_at_most: kopecksText(charges.atMost),
        unexplained: kopecksText(charges.unexplained),
      };
}
