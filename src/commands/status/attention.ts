import { FAILURES } from '../../errors.ts';
import { costs, WHAT } from '../../instances/journaled-errors.ts';
import type { UnknownRequest } from '../../journal/index.ts';
import type { AccountReading } from '../../money/account-reading.ts';
import { chargesSpan, type MoneyFacts } from '../../money/money-facts.ts';
import { alikeFaults } from '../../money/unread-parts.ts';
import { relative, spanText } from '../../output/time.ts';
import { clamp } from '../../output/width.ts';
import { kopecksText } from '../../rules/money.ts';
import { instanceName } from '../../rules/names.ts';
import type { DriveRow, MachineRow } from './overview.ts';

/** Something that a person should look at, gravest first. */
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
    | 'machine_gone'
    | 'machine_unread'
    | 'machine_error'
    | 'machine_overdue'
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
  readonly machines: readonly MachineRow[];
  readonly drives: readonly DriveRow[];
}

/** A balance that lasts for less than this is worth a word. */
const LOW = 24 * 3600;
/** A service that charges by the hour may be late by minutes. */
const LATE = 10 * 60_000;

export function attentionOf(look: Look): Attention[] {
  return [
    ...unreadParts(look),
    ...look.machines.flatMap((row) =>
      row.status === 'UNKNOWN' ? [unknownRequest(row, look)] : [],
    ),
    ...look.reading.lost.map((request) => lostRequest(request, look)),
    ...charges(look),
    ...balance(look),
    ...look.drives.flatMap((row) => drive(row, look)),
    ...look.machines.flatMap((row) => machine(row, look)),
  ];
}

function unreadParts({ reading }: Look): Attention[] {
  const { machines } = reading;
  return alikeFaults(reading.faults).map(({ words, parts, error }) => {
    const some =
      machines !== undefined && parts.includes('machines')
        ? ` (${machines.faults.length} of ${machines.asked} machines, shown as they were last seen)`
        : '';
    return {
      code: 'part_unread',
      resource: parts.join(' '),
      message: `${words} could not be read${some}, exit code ${FAILURES[error.failure].exit}: ${error.message}`,
      command: null,
    };
  });
}

function unknownRequest({ name, created_at }: MachineRow, { reading }: Look): Attention {
  const asked =
    created_at === null ? '' : `, asked for ${relative(Date.parse(created_at), reading.now)},`;
  return {
    code: 'unknown_request',
    resource: name,
    message: `Whether ${short(name)}${asked} was rented is not known: it may be billing`,
    command: 'gpucloud instances recover',
  };
}

/** Of a drive or an API key, which is no row of the machines. */
function lostRequest({ name, operation, asked_at }: UnknownRequest, { reading }: Look): Attention {
  const asked = relative(Date.parse(asked_at), reading.now);
  const bills = costs(operation) ? ': it may be billing' : '';
  return {
    code: 'unknown_request',
    resource: name,
    message: `Whether the ${WHAT[operation]} ${short(name)}, asked for ${asked}, was made is not known${bills}`,
    command: 'gpucloud instances recover',
  };
}

function charges({ reading, facts }: Look): Attention[] {
  const { charges: checked } = facts;
  if (checked === undefined) {
    const isRead = ['profile', 'transactions', 'machines', 'drives'].every(
      (part) => !reading.faults.some((fault) => fault.part === part),
    );
    return isRead
      ? [
          {
            code: 'charges_unchecked',
            resource: null,
            message:
              'The charges could not be compared with what is known here: a price is not told, or the history is too long or in no order',
            command: 'gpucloud billing spend',
          },
        ]
      : [];
  }
  if (checked.unexplained.lte(0)) return [];
  const span = chargesSpan(checked);
  return [
    {
      code: 'unexplained_charges',
      resource: null,
      message:
        `Something unknown may be billing: ${rub(kopecksText(checked.charged))} was charged in the last ${span}, ` +
        `and all that is known here explains ${rub(kopecksText(checked.atMost))} at most. ` +
        'It may be a machine that was rented elsewhere, or a drive that was deleted or made smaller. Look at the web console, and at the charges',
      command: 'gpucloud billing transactions --type usage-charge --since 24h',
    },
  ];
}

function balance({ reading, facts }: Look): Attention[] {
  const { user } = reading;
  const found: Attention[] = [];
  if (user?.is_active === false) {
    found.push({
      code: 'account_inactive',
      resource: user.id,
      message: 'The service calls the account not active (blocked)',
      command: null,
    });
  }
  if (user !== undefined && facts.balance === undefined) {
    found.push({
      code: 'balance_unknown',
      resource: null,
      message: 'The service told no balance that could be read',
      command: null,
    });
  } else if (facts.balance?.lt(0) === true) {
    found.push({
      code: 'balance_negative',
      resource: null,
      message: `The balance is below zero: ${rub(kopecksText(facts.balance))}`,
      command: null,
    });
  } else if (facts.runway?.seconds.lt(LOW) === true) {
    const left = Number(facts.runway.seconds.toFixed());
    found.push({
      code: 'balance_low',
      resource: null,
      message:
        left === 0
          ? 'The balance is used up: top it up'
          : `At this rate the balance is used up in ${spanText(left)}: top it up, or end what is not needed`,
      command: null,
    });
  }
  return found;
}

function drive(row: DriveRow, { reading }: Look): Attention[] {
  const name = short(row.name ?? row.id);
  if (row.status === 'ERROR') {
    return [
      {
        code: 'drive_error',
        resource: row.id,
        message: `The drive ${name} is in ERROR, and bills`,
        command: `gpucloud drives get ${row.id}`,
      },
    ];
  }
  if (row.status !== 'SUSPENDED') return [];
  return [
    {
      code: 'drive_suspended',
      resource: row.id,
      message:
        `The drive ${name} is SUSPENDED since the balance was used up, its debt grows, and ${deletionWords(row, reading.now)}. ` +
        'Top up the balance, then',
      command: `gpucloud drives resume ${typedName(row.name, row.id)}`,
    },
  ];
}

/** Two bounds, since no field tells when the drive was suspended. */
export function deletionWords(
  { deleted_at_earliest: earliest, deleted_at_latest: latest }: DriveRow,
  now: number,
): string {
  const [from, to] = [earliest, latest].map((text) =>
    text === null ? undefined : Math.max(0, (Date.parse(text) - now) / 1000),
  );
  if (from === undefined) return 'it is deleted for good 7 days after it was suspended';
  const after = spanText(from);
  const before = to === undefined ? undefined : spanText(to);
  return before === undefined || before === after
    ? `it is deleted for good in about ${after}`
    : `it is deleted for good in ${after} to ${before}`;
}

function machine(row: MachineRow, { reading }: Look): Attention[] {
  const { id, status } = row;
  const name = short(row.name);
  if (id === null) return [];
  const told = (code: Attention['code'], message: string, command: string | null) => [
    { code, resource: id, message, command },
  ];
  if (status === 'GONE') {
    return told(
      'machine_gone',
      `The service does not find ${name}, which this computer knows: look at the web console whether it bills`,
      `gpucloud instances untrack ${id}`,
    );
  }
  if (status === 'ERROR') {
    return told(
      'machine_error',
      `${name} is in ERROR${row.failure_reason === null ? '' : ` (${clamp(row.failure_reason, 80)})`}; whether it bills is not published`,
      `gpucloud instances terminate ${typedName(row.name, id)}`,
    );
  }
  if (row.bills === true && row.price_per_hour_snapshot === null) {
    return told(
      'price_not_told',
      `The price of ${name} is not told, and is not in the burn rate`,
      null,
    );
  }
  const overdue = row.paid_until === null ? 0 : reading.now - Date.parse(row.paid_until);
  if (row.bills === true && overdue > LATE) {
    return told(
      'machine_overdue',
      `${name} is ${status} and was paid until ${relative(reading.now - overdue, reading.now)}`,
      `gpucloud instances events ${typedName(row.name, id)}`,
    );
  }
  return [];
}

/** Names have up to 50 characters, and other things any length; a sentence takes less. */
function short(name: string): string {
  return clamp(name, 40);
}

/** What is typed for a thing: its name where a shell takes it as it is, and is shorter than an id. */
export function typedName(name: string | null, id: string): string {
  return name !== null && instanceName(name).ok && name.length <= 36 ? name : id;
}

function rub(amount: string): string {
  return `${amount} RUB`;
}
