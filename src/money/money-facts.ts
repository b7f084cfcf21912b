import type { Drive } from '../api/index.ts';
import type { Listed } from '../instances/known-machines.ts';
import { spanText } from '../output/time.ts';
import { kopecksText, type Money, money, zero } from '../rules/money.ts';
import type { AccountReading, CheckedCharges } from './account-reading.ts';
import { type Bills, type Burn, billsOf, burnOf, HOURS } from './burn.ts';
import { hoursText, type Runway, runwayOf } from './runway.ts';

/** One thing that may bill. */
export interface BillingItem {
  readonly kind: 'machine' | 'drive';
  readonly id: string | null;
  readonly name: string;
  readonly status: string;
  readonly price: string | null;
}

/** What an account costs and how long its balance lasts, worked out of a reading. */
export interface MoneyFacts {
  /** undefined where the profile was not read or its balance is no amount. */
  readonly balance: Money | undefined;
  readonly burn: Burn<BillingItem>;
  /** The parts of the burn rate that could be read; without one of them it is a part of the rate. */
  readonly read: { readonly machines: boolean; readonly drives: boolean };
  readonly charges: CheckedCharges | undefined;
  /** Roubles an hour that charges show beyond all that is known here; zero where they do not. */
  readonly unexplainedPerHour: Money;
  /** What is known and what is unexplained, an hour. */
  readonly perHour: Money;
  /** undefined without a balance, and where nothing is spent. */
  readonly runway: Runway | undefined;
}

const HOUR = 3_600_000;

export function moneyFacts({ user, machines, drives, charges, now }: AccountReading): MoneyFacts {
  const balance = money(user?.balance ?? '');
  const items = [...(machines?.rows ?? []).map(machineItem), ...(drives ?? []).map(driveItem)];
  const burn = burnOf(items);
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
    read: { machines: machines !== undefined, drives: drives !== undefined },
    charges,
    unexplainedPerHour,
    perHour,
    runway: balance.ok ? runwayOf(balance.value, perHour, now) : undefined,
  };
}

export function machineItem({ id, name, status, instance, last }: Listed): BillingItem {
  const price = instance?.price_per_hour_snapshot ?? last?.price_per_hour ?? null;
  return { kind: 'machine', id, name, status, price };
}

export function driveItem({ id, name, status, price_per_hour: price }: Drive): BillingItem {
  return { kind: 'drive', id, name: name ?? id, status: status ?? 'unknown', price: price ?? null };
}

/** `null` where the published API does not say whether it bills. */
export function billsFlag(item: BillingItem): boolean | null {
  const FLAGS: Readonly<Record<Bills, boolean | null>> = { yes: true, no: false, untold: null };
  return FLAGS[billsOf(item)];
}

/** The burn rate in JSON: a contract with scripts. */
export interface BurnJson {
  /** null, as the two below, where machines or drives could not be read. */
  readonly per_hour: string | null;
  readonly per_day: string | null;
  /** Of 30 days. */
  readonly per_month: string | null;
  readonly machines_per_hour: string | null;
  readonly drives_per_hour: string | null;
  /** With the full price of all that may bill; null where one of its prices is not told, too. */
  readonly per_hour_at_most: string | null;
  /** What is not in `per_hour`. */
  readonly not_counted: readonly {
    readonly kind: string;
    readonly id: string | null;
    readonly name: string;
    readonly status: string;
    readonly price_per_hour: string | null;
    /** Its price is not told, or the published API does not say whether this status bills. */
    readonly reason: 'price_not_told' | 'billing_not_documented';
  }[];
}

export function burnJson({ burn, read }: Pick<MoneyFacts, 'burn' | 'read'>): BurnJson {
  const { perHour, machines, drives, atMost, uncounted } = burn;
  const told = (amount: Money | undefined, isRead: boolean) =>
    amount === undefined || !isRead ? null : kopecksText(amount);
  const isWhole = read.machines && read.drives;
  return {
    per_hour: told(perHour, isWhole),
    per_day: told(perHour.times(HOURS.day), isWhole),
    per_month: told(perHour.times(HOURS.month), isWhole),
    machines_per_hour: told(machines, read.machines),
    drives_per_hour: told(drives, read.drives),
    per_hour_at_most: told(atMost, isWhole),
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
   * Rounded down to two decimals; null where nothing is spent, and where the balance or the rate is
   * not known.
   */
  readonly hours_left: string | null;
  /** null there too, and beyond the year 9999. */
  readonly runs_out_at: string | null;
}

export function runwayJson({ runway, read }: Pick<MoneyFacts, 'runway' | 'read'>): RunwayJson {
  if (runway === undefined || !read.machines || !read.drives) {
    return { hours_left: null, runs_out_at: null };
  }
  const end = runway.endsAt;
  return {
    hours_left: hoursText(runway),
    runs_out_at: end === undefined ? null : new Date(end).toISOString(),
  };
}

/** `24 h`, `5 h 10 min`: the stretch whose charges were compared with what is known. */
export function chargesSpan({ from, to }: Pick<CheckedCharges, 'from' | 'to'>): string {
  const hours = (to - from) / HOUR;
  return Number.isInteger(hours) ? `${hours} h` : spanText(Math.floor((to - from) / 1000));
}

/** The charges that were compared with what is known, in JSON. */
export interface ChargesJson {
  readonly from: string;
  readonly to: string;
  readonly charged: string;
  /** The most that all that is known here can have been charged. */
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
