import { FAILURES } from '../../errors.ts';
import type { AccountReading } from '../../money/account.ts';
import { type MoneyFacts, UNCHECKED, unexplainedText } from '../../money/facts.ts';
import { alikeFaults } from '../../money/faults.ts';
import { relative, spanText } from '../../output/time.ts';
import { clamp } from '../../output/width.ts';
import { inRoubles } from '../../rules/money.ts';
import { typedName } from '../../rules/names.ts';
import type { DriveRow, InstanceRow } from './rows.ts';

/** Something that a person should look at. */
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
    | 'drive_suspended'
    | 'drive_error';
  /** The id or name of the thing that it is about. */
  readonly resource: string | null;
  readonly message: string;
  readonly command: string | null;
}

interface Look {
  readonly reading: AccountReading;
  readonly facts: MoneyFacts;
  readonly instances: readonly InstanceRow[];
  readonly drives: readonly DriveRow[];
}

/** In seconds: a balance that lasts for less is low. */
const LOW = 24 * 3600;
/** In milliseconds: a service that charges per hour may be late by minutes. */
const LATE = 10 * 60_000;

/** The gravest first. */
export function attentionOf({ reading, facts, instances, drives }: Look): Attention[] {
  return [
    ...unreadParts(reading),
    ...instances.flatMap((row) => unknownRequest(row, reading.now) ?? []),
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
        ? ` (${instances.faults.length} of ${instances.asked} instances, shown as they were last seen)`
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
  const asked = created_at === null ? '' : `, asked for ${relative(Date.parse(created_at), now)},`;
  return attention(
    'unknown_request',
    name,
    `Whether ${short(name)}${asked} was rented is not known: it may be billing`,
    'gpucloud instances recover',
  );
}

function ofCharges({ faults }: AccountReading, { charges }: MoneyFacts) {
  if (charges === undefined) {
    // What could not be read is reported already.
    if (faults.length > 0) return undefined;
    return attention('charges_unchecked', null, UNCHECKED, 'gpucloud billing spend');
  }
  if (charges.unexplained.lte(0)) return undefined;
  return attention(
    'unexplained_charges',
    null,
    `${unexplainedText(charges)}. ` +
      'It may be a machine that was rented elsewhere, or a drive that was deleted or made smaller. Look at the web console, and at the charges',
    'gpucloud billing transactions --type usage-charge --since 24h',
  );
}

function ofAccount({ user }: AccountReading): Attention[] {
  return user?.is_active === false
    ? attention('account_inactive', user.id, 'The service calls the account not active (blocked)')
    : [];
}

function ofBalance({ user }: AccountReading, { balance, runway }: MoneyFacts) {
  if (user === undefined) return undefined;
  if (balance === undefined) {
    return attention('balance_unknown', null, 'The service told no balance that could be read');
  }
  if (balance.lt(0)) {
    return attention('balance_negative', null, `The balance is below zero: ${inRoubles(balance)}`);
  }
  if (runway === undefined || runway.seconds.gte(LOW)) return undefined;
  const left = Number(runway.seconds.toFixed());
  return attention(
    'balance_low',
    null,
    left === 0
      ? 'The balance is used up: top it up'
      : `At this rate the balance is used up in ${spanText(left)}: top it up, or end what is not needed`,
  );
}

function ofDrive(row: DriveRow, now: number) {
  const { id, status } = row;
  const name = short(row.name ?? id);
  if (status === 'ERROR') {
    return attention(
      'drive_error',
      id,
      `The drive ${name} is in ERROR, and bills`,
      `gpucloud drives get ${id}`,
    );
  }
  if (status !== 'SUSPENDED') return undefined;
  return attention(
    'drive_suspended',
    id,
    `The drive ${name} is SUSPENDED since the balance was used up, its debt grows, and ${deletionText(row, now)}. ` +
      'Top up the balance, then',
    `gpucloud drives resume ${typedName(row.name, id)}`,
  );
}

/** A range, since no field says when the drive was suspended. */
function deletionText(
  { deleted_at_earliest: earliest, deleted_at_latest: latest }: DriveRow,
  now: number,
): string {
  const [after, before] = [earliest, latest].map((text) =>
    text === null ? undefined : spanText(Math.max(0, (Date.parse(text) - now) / 1000)),
  );
  if (after === undefined) return 'it is deleted for good 7 days after it was suspended';
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
      `The service does not find ${name}, which this computer knows: look at the web console whether it bills`,
      `gpucloud instances untrack ${id}`,
    );
  }
  if (status === 'ERROR') {
    const why = row.failure_reason === null ? '' : ` (${clamp(row.failure_reason, 80)})`;
    return attention(
      'instance_error',
      id,
      `${name} is in ERROR${why}; whether it bills is not published`,
      `gpucloud instances terminate ${typed}`,
    );
  }
  if (row.bills !== true) return undefined;
  if (row.price_per_hour_snapshot === null) {
    return attention(
      'price_not_told',
      id,
      `The price of ${name} is not told, and is not in the burn rate`,
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

/** Names of other things than instances have any length. */
function short(name: string): string {
  return clamp(name, 40);
}
