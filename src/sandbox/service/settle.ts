import type { Drive, Instance, State } from '../store/state.ts';
import { chargeDriveHour, deleteDrive, finishSync } from './drives.ts';
import { failRunning, finishPhase, turnHour } from './lifecycle.ts';

/** A scheduled event. */
interface Due {
  at: number;
  /** Orders events with the same time, so that the books are deterministic. */
  rank: number;
  happen(): void;
}

type Happening<T> = (state: State, subject: T, at: number) => void;

/**
 * Runs all events that are due at a moment, in order of time: temporary statuses, hourly charges,
 * scheduled failures, synchronisations, deletions. Each event runs at its own time, so one long
 * jump of the clock has the same result as many short jumps.
 */
export function settle(state: State, until: number): void {
  for (let due = next(state, until); due !== undefined; due = next(state, until)) {
    due.happen();
  }
}

function next(state: State, until: number): Due | undefined {
  let first: Due | undefined;
  function consider<T>(at: number | null, rank: number, subject: T, happening: Happening<T>): void {
    if (at === null || at > until) return;
    if (first === undefined || at < first.at || (at === first.at && rank < first.rank)) {
      first = { at, rank, happen: () => happening(state, subject, at) };
    }
  }
  for (const instance of state.instances) {
    consider<Instance>(instance.phaseEndsAt, 0, instance, finishPhase);
    consider<Instance>(instance.failsAt, 1, instance, failRunning);
    consider<Instance>(instance.hourEndsAt, 2, instance, turnHour);
  }
  for (const drive of state.drives) {
    consider<Drive>(drive.syncEndsAt, 3, drive, finishSync);
    consider<Drive>(drive.hourEndsAt, 4, drive, chargeDriveHour);
    consider<Drive>(drive.deletesAt, 5, drive, deleteDrive);
  }
  return first;
}
