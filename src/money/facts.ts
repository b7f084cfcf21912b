import { spanText } from '../output/time.ts';
import { kopecksText, type Money, money, zero } from '../rules/money.ts';
import type { AccountReading } from './account.ts';
import { type Burn, burnOf, driveItem, instanceItem } from './burn.ts';
import type { CheckedCharges } from './charges.ts';
import { hoursText, type Runway, runwayOf } from './runway.ts';

/** What an account costs and how long its balance lasts. */
export interface MoneyFacts {
  /** undefined if the profile was not read or its balance is not an amount. */
  readonly balance: Money | undefined;
  readonly burn: Burn;
  /** Which parts of the burn rate could be read. */
  readonly read: { readonly instances: boolean; readonly drives: boolean };
  readonly charges: CheckedCharges | undefined;
  /** Roubles per hour of charges that nothing known here explains; zero if there are none. */
  readonly unexplainedPerHour: Money;
  /** The burn rate and what is unexplained. */
  readonly perHour: Money;
  /** undefined without a balance, and if nothing is spent. */
  readonly runway: Runway | undefined;
}

const HOUR = 3_600_000;
/** Hours of a day, and of the 30 days that stand for a month. */
const HOURS = { day: 24, month: 720 } as const;

export function moneyFacts({ user, instances, drives, charges, now }: AccountReading): MoneyFacts {
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
    balance: balance.ok ? balance.value : undefined,
    burn,
    read: { instances: instances !== undefined, drives: drives !== undefined },
    charges,
    unexplainedPerHour,
    perHour,
    runway: balance.ok ? runwayOf(balance.value, perHour, now) : undefined,
  };
}

/** The burn rate in JSON: a contract with scripts. */
export interface BurnJson {
  /** null if instances or drives could not be read, as the two below. */
  readonly per_hour: string | null;
  readonly per_day: string | null;
  /** Of 30 days. */
  readonly per_month: string | null;
  readonly instances_per_hour: string | null;
  readonly drives_per_hour: string | null;
  /** With the full price of what may bill; also null if one of its prices is not known. */
  readonly per_hour_at_most: string | null;
  /** What is missing in `per_hour`. */
  readonly not_counted: readonly {
    readonly kind: string;
    readonly id: string | null;
    readonly name: string;
    readonly status: string;
    readonly price_per_hour: string | null;
    /** Its price is not known, or the published API does not say whether this status bills. */
    readonly reason: 'price_not_told' | 'billing_not_documented';
  }[];
}

export function burnJson({ burn, read }: Pick<MoneyFacts, 'burn' | 'read'>): BurnJson {
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

export interface RunwayJson {
  /**
   * Rounded down to two decimals; null if nothing is spent, and if the balance or the rate is not
   * known.
   */
  readonly hours_left: string | null;
  /** Also null beyond the year 9999. */
  readonly runs_out_at: string | null;
}

export function runwayJson({ runway, read }: Pick<MoneyFacts, 'runway' | 'read'>): RunwayJson {
  if (runway === undefined || !read.instances || !read.drives) {
    return { hours_left: null, runs_out_at: null };
  }
  const end = runway.endsAt;
  return {
    hours_left: hoursText(runway),
    runs_out_at: end === undefined ? null : new Date(end).toISOString(),
  };
}

export const UNCHECKED =
  'The charges could not be compared with what is known here (a price is not told, or the history is too long or in no order)';

/** Without a full stop. */
export function unexplainedText({ charged, atMost, from, to }: CheckedCharges): string {
  const hours = (to - from) / HOUR;
  const span = Number.isInteger(hours) ? `${hours} h` : spanText(Math.floor((to - from) / 1000));
  return `Something unknown may be billing: ${kopecksText(charged)} RUB was charged in the last ${span}, and all that is known here explains ${kopecksText(atMost)} RUB at most`;
}

/** The compared charges in JSON. */
export interface ChargesJson {
  readonly from: string;
  readonly to: string;
  readonly charged: string;
  /** The most that everything known here can have been charged. */
  readonly explained_at_most: string;
  readonly unexplained: string;
}

export function chargesJson(charges: CheckedCharges | undefined): ChargesJson | null {
  return charges === undefined
    ? null
    : {
        from: new Date(charges.from).toISOString(),
        to: new Date(charges.to).toISOString(),
        charged: kopecksText(charges.charged),
        explained_at_most: kopecksText(charges.atMost),
        unexplained: kopecksText(charges.unexplained),
      };
}
