import type { State } from '../store/state.ts';
import { iso, isoOrNull } from '../time.ts';
import { priceOf } from './drives.ts';
import { available, debt, reserved, text, total } from './ledger.ts';

export type SandboxStatus = ReturnType<typeof sandboxStatus>;

/** Summarizes a sandbox for people. Amounts are decimal strings of roubles. */
export function sandboxStatus(state: State, now: number) {
  return {
    /** Identifies the account: a reset creates a new account. */
    account: state.account.id,
    now: iso(now),
    /** Virtual milliseconds per real millisecond; 0 stops the clock. */
    speed: state.clock.speed,
    /** Available plus reserved. */
    balance: text(total(state)),
    available: text(available(state)),
    reserved: text(reserved(state)),
    /** Hours of drives that could not be paid. */
    debt: text(debt(state)),
    counts: {
      instances: countsOf(state.instances),
      drives: countsOf(state.drives),
      ssh_keys: state.sshKeys.length,
      api_keys: state.apiKeys.length,
      transactions: state.transactions.length,
    },
    /** Instances that are not terminated, newest first. */
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
    /** Drives that are not deleted, newest first. */
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
    /** Scheduled failures that have not happened yet, oldest first. */
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
