import type { Drive, Instance, State } from '../store/state.ts';
import { chargeDriveHour, deleteDrive, finishSync } from './drives.ts';
import { failRunning, finishPhase, turnHour } from './lifecycle.ts';

/** A scheduled event. */
interface Due {
  at: number;
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
  // Of events with the same time, the first one here happens first, so the books are deterministic.
  function consider<T>(at: number | null, subject: T, happening: Happening<T>): void {
    if (at === null || at > until || (first !== undefined && at >= first.at)) return;
    first = { at, happen: () => happening(state, subject, at) };
  }
  for (const instance of state.instances) {
    consider<Instance>(instance.phaseEndsAt, instance, finishPhase);
    consider<Instance>(instance.failsAt, instance, failRunning);
    consider<Instance>(instance.hourEndsAt, instance, turnHour);
  }
  for (const drive of state.drives) {
    consider<Drive>(drive.syncEndsAt, drive, finishSync);
    consider<Drive>(drive.hourEndsAt, drive, chargeDriveHour);
    consider<Drive>(drive.deletesAt, drive, deleteDrive);
  }
  return first;
}
