import type { State } from './state.ts';
import { DAY } from './time.ts';

/** A sandbox that nobody used catches up at most this much, so that its books stay readable. */
export const LONGEST_CATCH_UP = 366 * DAY;

/**
 * The virtual time that belongs to a real time, in milliseconds since 1970. It runs at the state's
 * speed from where it was last anchored, and it never goes back, even when the computer's clock does.
 */
export function tick(state: State, real: number): number {
  const { realAnchor, virtualAnchor, speed } = state.clock;
  const elapsed = Math.min(Math.floor(Math.max(0, real - realAnchor) * speed), LONGEST_CATCH_UP);
  const now = virtualAnchor + elapsed;
  // Without new anchors the limit above would count from the first day and not from the last use.
  if (elapsed >= DAY) {
    anchor(state, real, now);
  }
  return now;
}

/** Says which virtual time it is at a real time; the clock goes on from there. */
export function anchor(state: State, real: number, virtual: number): void {
  state.clock.realAnchor = real;
  state.clock.virtualAnchor = virtual;
}
