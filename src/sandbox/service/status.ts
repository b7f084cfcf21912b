import type { DriveStatus, Fault, InstanceStatus, State } from '../store/state.ts';
import { iso, isoOrNull } from '../time.ts';
import { priceOf } from './drives.ts';
import { available, debt, reserved, text, total } from './ledger.ts';

/** What a person wants to know of a sandbox at a glance. Amounts are decimal strings of roubles. */
export interface SandboxStatus {
  /** The user id of the account; a reset makes a new account. */
  account: string;
  /** The virtual time, ISO 8601. */
  now: string;
  /** Virtual milliseconds per real one; 0 is a clock that stands still. */
  speed: number;
  /** Available plus reserved. */
  balance: string;
  available: string;
  reserved: string;
  /** Hours of drives that could not be paid. */
  debt: string;
  /** How many things there are of each status that occurs. */
  counts: {
    instances: Partial<Record<InstanceStatus, number>>;
    drives: Partial<Record<DriveStatus, number>>;
    ssh_keys: number;
    api_keys: number;
    transactions: number;
  };
  /** Newest first, without the terminated ones. */
  instances: {
    id: string;
    name: string;
    status: InstanceStatus;
    price_per_hour: string;
    reserved: string;
    paid_until: string | null;
  }[];
  /** Newest first, without the deleted ones. */
  drives: {
    id: string;
    name: string;
    status: DriveStatus;
    size_gb: number;
    price_per_hour: string;
    debt: string;
    current_instance_id: string | null;
  }[];
  /** Failures that were asked for and have not struck yet, in the order of asking. */
  faults: Fault[];
}

export function sandboxStatus(state: State, now: number): SandboxStatus {
  return {
    account: state.account.id,
    now: iso(now),
    speed: state.clock.speed,
    balance: text(total(state)),
    available: text(available(state)),
    reserved: text(reserved(state)),
    debt: text(debt(state)),
    counts: {
      instances: countsOf(state.instances),
      drives: countsOf(state.drives),
      ssh_keys: state.sshKeys.length,
      api_keys: state.apiKeys.length,
      transactions: state.transactions.length,
    },
    instances: state.instances
      .filter((instance) => instance.status !== 'TERMINATED')
      .reverse()
      .map((instance) => ({
        id: instance.id,
        name: instance.name,
        status: instance.status,
        price_per_hour: instance.price,
        reserved: instance.reserved,
        paid_until: isoOrNull(instance.paidUntil),
      })),
    drives: state.drives
      .filter((drive) => drive.status !== 'DELETED')
      .reverse()
      .map((drive) => ({
        id: drive.id,
        name: drive.name,
        status: drive.status,
        size_gb: drive.sizeGb,
        price_per_hour: text(priceOf(drive)),
        debt: drive.debt,
        current_instance_id: drive.currentInstanceId,
      })),
    faults: [...state.faults],
  };
}

function countsOf<S extends string>(things: readonly { status: S }[]): Partial<Record<S, number>> {
  const counts: Partial<Record<S, number>> = {};
  for (const { status } of things) {
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
