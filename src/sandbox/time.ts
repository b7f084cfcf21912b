import type { State } from './store/state.ts';

/** All times of the sandbox are milliseconds since 1970 on its virtual clock. */
export const SECOND = 1000;
export const HOUR = 3600 * SECOND;
export const DAY = 24 * HOUR;

/** Formats a time as the service does (API document: Conventions): ISO 8601. */
export function iso(at: number): string {
  return new Date(at).toISOString();
}

export function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at);
}

/** An unused sandbox catches up by at most this much, so that its books stay readable. */
const LONGEST_CATCH_UP = 366 * DAY;

/**
 * Returns the virtual time at a real time, in milliseconds since 1970. Virtual time runs at the
 * state's speed from the last anchor. It never goes back, even if the computer's clock does.
 */
export function tick(state: State, real: number): number {
  const { realAnchor, virtualAnchor, speed } = state.clock;
  const elapsed = Math.min(Math.floor(Math.max(0, real - realAnchor) * speed), LONGEST_CATCH_UP);
  const now = virtualAnchor + elapsed;
  // Without new anchors, the limit above would count from the first day instead of the last use.
  if (elapsed >= DAY) {
    anchor(state, real, now);
  }
  return now;
}

/** Sets the virtual time at a real time; the clock continues from there. */
export function anchor(state: State, real: number, virtual: number): void {
  state.clock.realAnchor = real;
  state.clock.virtualAnchor = virtual;
}
