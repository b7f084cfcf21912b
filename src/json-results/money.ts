import type { Infer } from '../api/schemas/fields.ts';
import { lazy } from '../lazy.ts';
import * as z from '../zod.ts';
import { fields } from './fields.ts';

export const burn = lazy(() => {
  const { text, maybeText, maybeRoubles } = fields();
  return z.object({
    /** These three fields are null if instances or drives could not be read. */
    per_hour: maybeRoubles,
    per_day: maybeRoubles,
    /** RUB per 30 days. */
    per_month: maybeRoubles,
    instances_per_hour: maybeRoubles,
    drives_per_hour: maybeRoubles,
    /**
     * Burn rate plus the full price of items that may bill. Also null if one of those prices is
     * unknown.
     */
    per_hour_at_most: maybeRoubles,
    /** Items that `per_hour` leaves out. */
    not_counted: z.array(
      z.object({
        kind: text,
        id: maybeText,
        name: maybeText,
        status: maybeText,
        price_per_hour: maybeText,
        /** The price is unknown, or the document doesn't say whether this status bills. */
        reason: text,
      }),
    ),
  });
});

const charges = lazy(() => {
  const { time, roubles } = fields();
  return z.nullable(
    z.object({
      from: time,
      to: time,
      /** Charges minus refunds. */
      charged: roubles,
      refunded: roubles,
      /** The highest possible charges for all known resources. */
      explained_at_most: roubles,
      unexplained: roubles,
    }),
  );
});

const hoursLeft = lazy(() => {
  const { maybeRoubles, maybeText, maybeTime } = fields();
  return z.object({
    /** Rounded down to two decimals; null if unknown. */
    hours_left: maybeRoubles,
    /** Why `hours_left` is null. */
    hours_left_unknown: maybeText,
    /** null without `hours_left`, or after the year 9999. */
    runs_out_at: maybeTime,
  });
});

/** Amounts are in roubles. */
export const runway = lazy(() => {
  const { time, maybeText, maybeRoubles, maybeFlag, texts } = fields();
  return z.extend(hoursLeft(), {
    as_of: time,
    /** The balance as sent by the service; null if unread. */
    balance: maybeText,
    /**
     * The known burn rate plus unexplained charges; null if instances or drives could not be read.
     */
    per_hour: maybeRoubles,
    /** null if the charges were not compared with known resources. */
    unexplained_per_hour: maybeRoubles,
    burn: burn(),
    charges: charges(),
    fail_below: maybeText,
    /** Whether the balance is below the limit. null without a limit, or if that is unknown. */
    below: maybeFlag,
    /** Unreadable parts. */
    unread: texts,
  });
});

/** One period of `billing spend`. Amounts are in roubles. */
export const spending = lazy(() => {
  const { text, maybeText, time, roubles, count } = fields();
  return z.object({
    /** `2026-01-15`, `2026-W03`, `2026-01`. */
    period: text,
    /** The requested part of the period; excludes `to`. */
    from: time,
    to: time,
    /** Charges minus refunds. */
    spent: roubles,
    charged: roubles,
    refunded: roubles,
    deposited: roubles,
    bonus: roubles,
    /** Undocumented types, and documented types in the opposite direction. No sum includes them. */
    other: z.array(z.object({ type: text, direction: maybeText, amount: roubles, count })),
    transactions: count,
  });
});

/** An instance of `billing spend --by instance`. The last row has no ID: it is the rest. */
export const instanceSpending = lazy(() => {
  const { maybeText, maybeRoubles, flag } = fields();
  return z.object({
    id: maybeText,
    name: maybeText,
    status: maybeText,
    price_per_hour: maybeText,
    /** Hours since creation in the period, also while stopped; null if unknown. */
    hours: maybeText,
    /** Price times hours. In the last row: what the other rows do not explain. */
    cost_estimate: maybeRoubles,
    /** true if this computer has seen it stopped: hours and cost may also count that time. */
    was_stopped: z.optional(flag),
  });
});

export const auditCheck = lazy(() => {
  const { text, texts, maybeText, maybeRoubles } = fields();
  return z.object({
    check: text,
    result: z.enum(['ok', 'finding', 'unknown']),
    message: text,
    evidence: texts,
    per_hour: maybeRoubles,
    command: maybeText,
  });
});

const accountInstance = lazy(() => {
  const { texts, text, maybeText, flag, maybeFlag, maybeNumber } = fields();
  return z.object({
    /** null for a request whose response was lost. */
    id: maybeText,
    name: text,
    status: text,
    bills: maybeFlag,
    price_per_hour_snapshot: maybeText,
    offer: maybeText,
    created_at: maybeText,
    age_seconds: maybeNumber,
    paid_until: maybeText,
    /** The deadline, by the service's clock. */
    ends_at: maybeText,
    /** The idle rule; null if the instance has none. */
    if_idle_seconds: maybeNumber,
    /** 0 while in use; null if unknown. */
    idle_seconds: maybeNumber,
    /** The paths of `--rescue`; null if the instance has none. */
    rescue: z.nullable(texts),
    /** Why the last pass did not copy everything; null if it did. */
    rescue_failing: maybeText,
    failure_reason: maybeText,
    /** Whether the status is the last one seen, at `last_seen_at`. */
    unread: flag,
    last_seen_at: maybeText,
  });
});

const accountDrive = lazy(() => {
  const { text, maybeText, maybeTime, maybeFlag, maybeNumber } = fields();
  return z.object({
    id: text,
    name: maybeText,
    status: maybeText,
    bills: maybeFlag,
    price_per_hour: maybeText,
    size_gb: maybeNumber,
    used_bytes: maybeText,
    current_instance_id: maybeText,
    paid_until: maybeText,
    /** Earliest and latest time at which a suspended drive is deleted for good. */
    deleted_at_earliest: maybeTime,
    deleted_at_latest: maybeTime,
  });
});

/** `status`. */
export const overview = lazy(() => {
  const { text, maybeText, time, maybeFlag } = fields();
  return z.extend(hoursLeft(), {
    as_of: time,
    account: z.nullable(z.object({ id: text, email: maybeText, is_active: maybeFlag })),
    /** The account's wallet balance, as sent by the service. */
    balance: maybeText,
    burn: burn(),
    charges: charges(),
    /** Instances known to this computer, since the API does not list instances. */
    instances: z.array(accountInstance()),
    drives: z.array(accountDrive()),
    attention: z.array(
      z.object({ code: text, resource: maybeText, message: text, command: maybeText }),
    ),
    next: z.array(z.object({ command: text, purpose: text })),
    /** Unreadable parts. The most serious fault decides the exit code. */
    unread: z.array(z.object({ part: text, code: text, message: text })),
  });
});

export type BurnResult = Infer<typeof burn>;
export type ChargesResult = Infer<typeof charges>;
export type HoursLeft = Infer<typeof hoursLeft>;
export type AccountInstance = Infer<typeof accountInstance>;
export type AccountDrive = Infer<typeof accountDrive>;
export type Runway = Infer<typeof runway>;
export type InstanceSpending = Infer<typeof instanceSpending>;
export type Spending = Infer<typeof spending>;
export type AuditCheck = Infer<typeof auditCheck>;
export type Overview = Infer<typeof overview>;
