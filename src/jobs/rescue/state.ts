import type { Money } from '../../rules/money.ts';

// What happens next to an instance with `--rescue`, as a pure function: it reads no clock and no
// file.

export interface Situation {
  /** Milliseconds since 1970, by the service's clock, as for the other times. */
  readonly now: number;
  readonly deadline: number | undefined;
  /** When a pass found the instance due; undefined before. */
  readonly due: number | undefined;
  /** Milliseconds before the deadline when copying begins. */
  readonly early: number;
  /** Milliseconds after `due` for which the budget pays. */
  readonly paid: number;
  /** Milliseconds until the next pass. */
  readonly every: number;
  /**
   * What this pass did: `failed`, `again` after the pause that follows a failure, `copied` before the
   * instance was due, or `whole` if each path is here and was compared after it was due.
   */
  readonly copied: Before | 'failed' | 'again' | 'copied' | 'whole';
}

/** What earlier passes did: `early` if each path was copied, `partly` if a copy failed. */
export type Before = 'not yet' | 'early' | 'partly';

/**
 * `wait` and `keep` leave the instance to the next pass, `keep` although it is due. `retry` tries
 * again in this pass, since the next one would be too late.
 */
export type Step = 'wait' | 'copy' | 'keep' | 'retry' | 'end' | 'give up';

export function nextStep(situation: Situation): Step {
  const { now, deadline, due, early, paid, every, copied } = situation;
  if (due === undefined) {
    if (deadline === undefined) return 'wait';
    const isMissing = copied === 'not yet' || copied === 'partly';
    // The next pass would start too late.
    if (isMissing) return now + every < deadline - early ? 'wait' : 'copy';
    // Without a budget, nothing is copied after the deadline, so the last pass copies what changed.
    return copied === 'early' && paid === 0 && now + every >= deadline ? 'copy' : 'wait';
  }
  if (copied === 'whole') return 'end';
  // Before the deadline, one copy costs nothing of the budget.
  const isFree = copied !== 'failed' && deadline !== undefined && now < deadline;
  if (now >= due + paid && !isFree) {
    // A computer that slept tries once, although the budget is used up. Without a budget, the tries
    // before the deadline are enough.
    const isTried = copied === 'failed' || copied === 'again';
    return isTried || (paid === 0 && copied !== 'not yet') ? 'give up' : 'copy';
  }
  if (copied !== 'failed') return 'copy';
  return now + every < due + paid ? 'keep' : 'retry';
}

const HOUR = 3_600_000;

/**
 * Returns for how many milliseconds after the deadline a budget pays: price x time never exceeds it.
 * Without a known price, an amount pays for nothing, and so does an amount that can't be read.
 */
export function paidTime(
  budget: Money | null | undefined,
  pricePerHour: Money | undefined,
): number {
  if (budget === null) return HOUR;
  if (budget === undefined || budget.lte(0) || pricePerHour === undefined) return 0;
  return pricePerHour.lte(0) ? HOUR : Math.floor(Number(budget.div(pricePerHour).times(HOUR)));
}
