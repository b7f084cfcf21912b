import { FAILURES } from '../../errors.ts';
import type { Enforcement } from '../../instances/deadlines/armed.ts';
import type { AccountReading } from '../../money/account.ts';
import { groupText, type MoneyFacts, unexplainedText, whyUnchecked } from '../../money/facts.ts';
import { alikeFaults } from '../../money/faults.ts';
import { relative, spanText } from '../../output/time.ts';
import { clamp } from '../../output/width.ts';
import { inRoubles } from '../../rules/money.ts';
import { typedName } from '../../rules/names.ts';
import { ofDeadlines } from './deadlines.ts';
import type { DriveRow, InstanceRow } from './rows.ts';

/** A condition that needs a person's attention. */
export interface Attention {
  readonly code:
    | 'part_unread'
    | 'unknown_request'
    | 'unexplained_charges'
    | 'charges_unchecked'
    | 'balance_unknown'
    | 'balance_negative'
    | 'balance_low'
    | 'account_inactive'
    | 'instance_gone'
    | 'instance_error'
    | 'instance_overdue'
    | 'price_not_told'
    | 'deadline_passed'
    | 'deadline_unenforced'
    | 'deadline_doubtful'
    | 'running_long'
    | 'drive_suspended'
    | 'drive_error';
  /** ID or name of the affected resource. */
  readonly resource: string | null;
  readonly message: string;
  readonly command: string | null;
}

interface Look {
  readonly reading: AccountReading;
  readonly facts: MoneyFacts;
  readonly instances: readonly InstanceRow[];
  readonly drives: readonly DriveRow[];
  readonly enforcement: Enforcement;
}

/** In seconds; a balance that lasts less is low. */
const LOW = 24 * 3600;
/** In milliseconds: an hourly charge may be minutes late. */
const LATE = 10 * 60_000;

/** The most serious first. */
export function attentionOf(look: Look): Attention[] {
  const { reading, facts, instances, drives, enforcement } = look;
  return [
    ...unreadParts(reading),
    ...instances.flatMap((row) => unknownRequest(row, reading.now) ?? []),
    ...ofDeadlines(instances, enforcement, reading.now),
    ...(ofCharges(reading, facts) ?? []),
    ...ofAccount(reading),
    ...(ofBalance(reading, facts) ?? []),
    ...drives.flatMap((row) => ofDrive(row, reading.now) ?? []),
    ...instances.flatMap((row) => ofInstance(row, reading.now) ?? []),
  ];
}

function attention(
  code: Attention['code'],
  resource: string | null,
  message: string,
  command: string | null = null,
): [Attention] {
  return [{ code, resource, message, command }];
}

function unreadParts({ instances, faults }: AccountReading): Attention[] {
  return alikeFaults(faults).flatMap(({ names, parts, error }) => {
    const some =
      instances !== undefined && parts.includes('instances')
        ? ` (${instances.faults.length} of ${instances.requested} instances, shown with their last known state)`
        : '';
    return attention(
      'part_unread',
      parts.join(' '),
      `${names} could not be read${some}, exit code ${FAILURES[error.failure].exit}: ${error.message}`,
    );
  });
}

function unknownRequest({ name, status, created_at }: InstanceRow, now: number) {
  if (status !== 'UNKNOWN') return undefined;
  const requested =
    created_at === null ? '' : `, requested ${relative(Date.parse(created_at), now)},`;
  return attention(
    'unknown_request',
    name,
    `The outcome of ${short(name)}${requested} is unknown: it may be billing`,
    'gpucloud instances recover',
  );
}

function ofCharges({ faults }: AccountReading, { charges }: MoneyFacts) {
  const why = whyUnchecked(charges);
  if (charges === undefined || why !== undefined) {
    // Unread parts have their own entry.
    if (charges === undefined && faults.length > 0) return undefined;
    return attention('charges_unchecked', null, why ?? '', 'gpucloud billing spend');
  }
  const [largest] = charges.groups;
  if (charges.unexplained.lte(0) || largest === undefined) return undefined;
  return attention(
    'unexplained_charges',
    null,
    `${unexplainedText(charges)}. The largest group: ${groupText(largest)}. To look for it`,
    'gpucloud audit',
  );
}

function ofAccount({ user }: AccountReading): Attention[] {
  return user?.is_active === false
    ? attention('account_inactive', user.id, 'The account is not active (blocked)')
    : [];
}

function ofBalance({ user }: AccountReading, { balance, runway }: MoneyFacts) {
  if (user === undefined) return undefined;
  if (balance === undefined) {
    return attention('balance_unknown', null, 'The service returned no readable balance');
  }
  if (balance.lt(0)) {
    return attention('balance_negative', null, `The balance is negative: ${inRoubles(balance)}`);
  }
  if (runway === undefined || runway.seconds.gte(LOW)) return undefined;
  const left = Number(runway.seconds.toFixed());
  return attention(
    'balance_low',
    null,
    left === 0
      ? 'The balance is used up: top up'
      : `The balance lasts ${spanText(left)} at this rate: top up, or terminate what you don't need`,
  );
}

function ofDrive(row: DriveRow, now: number) {
  const { id, status } = row;
  const name = short(row.name ?? id);
  if (status === 'ERROR') {
    return attention(
      'drive_error',
      id,
      `Drive ${name} is in ERROR and still billing`,
      `gpucloud drives get ${id}`,
    );
  }
  if (status !== 'SUSPENDED') return undefined;
  return attention(
    'drive_suspended',
    id,
    `Drive ${name} is SUSPENDED because the balance ran out. Its debt grows, and ${deletionText(row, now)}. ` +
      'Top up the balance, then',
    `gpucloud drives resume ${typedName(row.name, id)}`,
  );
}

/** A range: no field shows when the drive was suspended. */
function deletionText(
  { deleted_at_earliest: earliest, deleted_at_latest: latest }: DriveRow,
  now: number,
): string {
  const [after, before] = [earliest, latest].map((text) =>
    text === null ? undefined : spanText(Math.max(0, (Date.parse(text) - now) / 1000)),
  );
  if (after === undefined) return 'it is deleted for good 7 days after the suspension';
  return before === undefined || before === after
    ? `it is deleted for good in about ${after}`
    : `it is deleted for good in ${after} to ${before}`;
}

function ofInstance(row: InstanceRow, now: number) {
  const { id, status } = row;
  if (id === null) return undefined;
  const name = short(row.name);
  const typed = typedName(row.name, id);
  if (status === 'GONE') {
    return attention(
      'instance_gone',
      id,
      `The service does not find ${name}: check in the web console whether it is billing`,
      `gpucloud instances untrack ${id}`,
    );
  }
  if (status === 'ERROR') {
    const why = row.failure_reason === null ? '' : ` (${clamp(row.failure_reason, 80)})`;
    return attention(
      'instance_error',
      id,
      `${name} is in ERROR${why} and may be billing`,
      `gpucloud instances terminate ${typed}`,
    );
  }
  if (row.bills !== true) return undefined;
  if (row.price_per_hour_snapshot === null) {
    return attention(
      'price_not_told',
      id,
      `The price of ${name} is unknown and not part of the burn rate`,
    );
  }
  const paid = row.paid_until === null ? now : Date.parse(row.paid_until);
  if (!(now - paid > LATE)) return undefined;
  return attention(
    'instance_overdue',
    id,
    `${name} is ${status} and was paid until ${relative(paid, now)}`,
    `gpucloud instances events ${typed}`,
  );
}

/** Names of drives and requests can have any length. */
function short(name: string): string {
  return clamp(name, 40);
}
