import type { Infer } from '../api/schemas/fields.ts';
import { lazy } from '../lazy.ts';
import * as z from '../zod.ts';
import { fields } from './fields.ts';

export const burn = lazy(() => {
  const { text, maybeText, maybeRoubles } = fields();
  return z.object({
    per_hour: maybeRoubles,
    per_day: maybeRoubles,
    per_month: maybeRoubles,
    instances_per_hour: maybeRoubles,
    drives_per_hour: maybeRoubles,
    per_hour_at_most: maybeRoubles,
    not_counted: z.array(
      z.object({
        kind: text,
        id: maybeText,
        name: maybeText,
        status: maybeText,
        price_per_hour: maybeText,
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
      charged: roubles,
      refunded: roubles,
      explained_at_most: roubles,
      unexplained: roubles,
    }),
  );
});

const hoursLeft = lazy(() => {
  const { maybeRoubles, maybeText, maybeTime } = fields();
  return z.object({
    hours_left: maybeRoubles,
    hours_left_unknown: maybeText,
    runs_out_at: maybeTime,
  });
});

export const runway = lazy(() => {
  const { time, maybeText, maybeRoubles, maybeFlag, texts } = fields();
  return z.extend(hoursLeft(), {
    as_of: time,
    balance: maybeText,
    per_hour: maybeRoubles,
    unexplained_per_hour: maybeRoubles,
    burn: burn(),
    charges: charges(),
    fail_below: maybeText,
    below: maybeFlag,
    unread: texts,
  });
});

export const spending = lazy(() => {
  const { text, maybeText, time, roubles, count } = fields();
  return z.object({
    period: text,
    from: time,
    to: time,
    spent: roubles,
    charged: roubles,
    refunded: roubles,
    deposited: roubles,
    bonus: roubles,
    other: z.array(z.object({ type: text, direction: maybeText, amount: roubles, count })),
    transactions: count,
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

export const overview = lazy(() => {
  const { text, maybeText, time, maybeTime, flag, maybeFlag, maybeNumber } = fields();
  const instance = z.object({
    id: maybeText,
    name: text,
    status: text,
    bills: maybeFlag,
    price_per_hour_snapshot: maybeText,
    offer: maybeText,
    created_at: maybeText,
    age_seconds: maybeNumber,
    paid_until: maybeText,
    ends_at: maybeText,
    /** The idle rule; null if the instance has none. */
    if_idle_seconds: maybeNumber,
    /** 0 while in use; null if unknown. */
    idle_seconds: maybeNumber,
    failure_reason: maybeText,
    unread: flag,
    last_seen_at: maybeText,
  });
  const drive = z.object({
    id: text,
    name: maybeText,
    status: maybeText,
    bills: maybeFlag,
    price_per_hour: maybeText,
    size_gb: maybeNumber,
    current_instance_id: maybeText,
    paid_until: maybeText,
    deleted_at_earliest: maybeTime,
    deleted_at_latest: maybeTime,
  });
  return z.extend(hoursLeft(), {
    as_of: time,
    account: z.nullable(z.object({ id: text, email: maybeText, is_active: maybeFlag })),
    balance: maybeText,
    burn: burn(),
    charges: charges(),
    instances: z.array(instance),
    drives: z.array(drive),
    attention: z.array(
      z.object({ code: text, resource: maybeText, message: text, command: maybeText }),
    ),
    next: z.array(z.object({ command: text, purpose: text })),
    unread: z.array(z.object({ part: text, code: text, message: text })),
  });
});

export type Runway = Infer<typeof runway>;
export type Spending = Infer<typeof spending>;
export type AuditCheck = Infer<typeof auditCheck>;
export type Overview = Infer<typeof overview>;
