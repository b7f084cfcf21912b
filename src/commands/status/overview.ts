import type { Drive } from '../../api/index.ts';
import type { Listed } from '../../instances/known-machines.ts';
import type { AccountReading } from '../../money/account-reading.ts';
import { momentOf } from '../../money/ledger.ts';
import {
  type BurnJson,
  billsFlag,
  burnJson,
  type ChargesJson,
  chargesJson,
  driveItem,
  machineItem,
  moneyFacts,
  type RunwayJson,
  runwayJson,
} from '../../money/money-facts.ts';
import { deletionOf } from '../../money/suspension.ts';
import { isTerminated } from '../../rules/statuses.ts';
import { type Attention, attentionOf } from './attention.ts';
import { type NextStep, nextSteps } from './next-steps.ts';

/** What `status` tells, as its JSON form: names and amounts of the service, and a few of ours. */
export interface Overview extends RunwayJson {
  readonly as_of: string;
  readonly account: {
    readonly id: string;
    readonly email: string | null;
    readonly is_active: boolean | null;
  } | null;
  /** The wallet balance of the profile, as the service wrote it. */
  readonly balance: string | null;
  readonly burn: BurnJson;
  readonly charges: ChargesJson | null;
  /** Those known to this computer: the published API has no list of machines. */
  readonly machines: readonly MachineRow[];
  readonly drives: readonly DriveRow[];
  readonly attention: readonly Attention[];
  readonly next: readonly NextStep[];
  /** The parts that could not be read; then the exit code is that of the gravest. */
  readonly unread: readonly {
    readonly part: string;
    readonly code: string;
    readonly message: string;
  }[];
}

export interface MachineRow {
  /** null for a request whose answer was lost. */
  readonly id: string | null;
  readonly name: string;
  readonly status: string;
  /** null where the published API does not say whether this status bills. */
  readonly bills: boolean | null;
  readonly price_per_hour_snapshot: string | null;
  readonly offer: string | null;
  readonly created_at: string | null;
  readonly age_seconds: number | null;
  readonly paid_until: string | null;
  readonly failure_reason: string | null;
  /** The status is what was last seen, at `last_seen_at`. */
  readonly unread: boolean;
  readonly last_seen_at: string | null;
}

export interface DriveRow {
  readonly id: string;
  readonly name: string | null;
  readonly status: string | null;
  readonly bills: boolean | null;
  readonly price_per_hour: string | null;
  readonly size_gb: number | null;
  readonly current_instance_id: string | null;
  readonly paid_until: string | null;
  /** Of a suspended drive: between which moments it is deleted for good. */
  readonly deleted_at_earliest: string | null;
  readonly deleted_at_latest: string | null;
}

export function overviewOf(reading: AccountReading): Overview {
  const { now, user, faults } = reading;
  const facts = moneyFacts(reading);
  const machines = (reading.machines?.rows ?? [])
    .filter(({ status }) => !isTerminated(status))
    .map((row) => machineRow(row, now));
  const drives = (reading.drives ?? []).filter(({ status }) => status !== 'DELETED').map(driveRow);
  const attention = attentionOf({ reading, facts, machines, drives });
  return {
    as_of: new Date(now).toISOString(),
    account:
      user === undefined
        ? null
        : { id: user.id, email: user.email ?? null, is_active: user.is_active ?? null },
    balance: user?.balance ?? null,
    burn: burnJson(facts),
    ...runwayJson(facts),
    charges: chargesJson(facts.charges),
    machines,
    drives,
    attention,
    next: nextSteps({
      machines,
      drives,
      faults,
      funded: facts.balance?.gt(0) !== false,
    }),
    unread: faults.map(({ part, error }) => ({ part, code: error.code, message: error.message })),
  };
}

/** The machines that cost money, or of which nobody says that they do not. */
export function billing({ machines }: Overview): MachineRow[] {
  return machines.filter(({ id, bills }) => id !== null && bills !== false);
}

function machineRow(row: Listed, now: number): MachineRow {
  const { id, name, status, instance, last } = row;
  const created = instance?.created_at ?? last?.created_at ?? row.asked_at ?? null;
  const since = momentOf({ created_at: created });
  const item = machineItem(row);
  return {
    id,
    name,
    status,
    bills: billsFlag(item),
    price_per_hour_snapshot: item.price,
    offer: instance?.offer?.name ?? last?.offer_name ?? null,
    created_at: created,
    age_seconds: since === undefined ? null : Math.max(0, Math.floor((now - since) / 1000)),
    paid_until: instance?.paid_until ?? null,
    failure_reason: instance?.failure_reason ?? null,
    unread: row.unread === true,
    last_seen_at: last?.seen_at ?? null,
  };
}

function driveRow(drive: Drive): DriveRow {
  const isSuspended = drive.status === 'SUSPENDED';
  const { earliest, latest } = isSuspended
    ? deletionOf(drive)
    : { earliest: undefined, latest: undefined };
  return {
    id: drive.id,
    name: drive.name ?? null,
    status: drive.status ?? null,
    bills: billsFlag(driveItem(drive)),
    price_per_hour: drive.price_per_hour ?? null,
    size_gb: drive.size_gb ?? null,
    current_instance_id: drive.current_instance_id ?? null,
    paid_until: drive.paid_until ?? null,
    deleted_at_earliest: isoOrNull(earliest),
    deleted_at_latest: isoOrNull(latest),
  };
}

function isoOrNull(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}
