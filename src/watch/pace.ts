import type { Clock } from '../clock.ts';

/** So many times the shortest pause is the longest. */
const LONGEST = 5;
const GROWTH = 1.5;
/** A pause is up to so much shorter or longer than it should be. */
const JITTER = 0.2;

/**
 * How long to pause between two readings of something that comes in bursts: briefly while something
 * comes, longer and longer while nothing does, and never in step with other programs.
 */
export function createPace(shortest: number, clock: Pick<Clock, 'random'>) {
  let pause = shortest;
  return {
    /** Milliseconds until the next reading; never less than the service asked to wait. */
    next({ isBusy, atLeast = 0 }: { readonly isBusy: boolean; readonly atLeast?: number }): number {
      pause = isBusy ? shortest : Math.min(pause * GROWTH, shortest * LONGEST);
      const jitter = 1 - JITTER + 2 * JITTER * clock.random();
      return Math.max(Math.round(pause * jitter), atLeast);
    },
  };
}
