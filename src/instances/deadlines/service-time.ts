import { driftBetween, type Reading } from '../../context/service-clock.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { local } from '../../output/time.ts';
import { differenceText, FAR, lastAhead } from './armed.ts';

/** Milliseconds by which the service's clock and this computer's may differ without a warning. */
const SAME = 60_000;
/** Milliseconds by which that difference may have changed since the last pass. */
const MOVED = 10_000;
/** Milliseconds by which the second response may contradict the first. */
const AGREES = 2_000;
/** Milliseconds between the two responses, long enough to reveal a clock that stands still. */
const PAUSE = 3_000;

/** The service's time, if it is certain enough to terminate an instance. */
export interface ServiceTime {
  now(): number;
  /** Whether the time can still be used: this computer has not slept since. */
  isFresh(): boolean;
  /** Milliseconds by which the service's clock is ahead of this computer's. */
  readonly ahead: number;
}

/**
 * Reads the service's time. `ask` sends a request that shows it. If the time is far from this
 * computer's, or if the difference has changed since the last scheduled pass, a second response
 * must agree. Throws CliError('notUnderstood') if it doesn't, or if no response shows the time.
 */
export async function serviceTime(
  context: Context,
  ask: () => Promise<unknown> = async () => (await context.api()).users.me(),
): Promise<ServiceTime> {
  const { serviceClock, clock, signal } = context;
  if (!serviceClock.isKnown()) await ask();
  if (serviceClock.isExact()) return { now: serviceClock.now, isFresh: () => true, ahead: 0 };
  const first = serviceClock.last();
  if (first === undefined || !serviceClock.isKnown()) {
    throw new CliError(
      'notUnderstood',
      "The service's response has no Date header. Deadlines follow the service's clock.",
    );
  }
  const ahead = first.service - first.now;
  if (!(await isPlausible(ahead, context))) {
    await clock.sleep(PAUSE, signal);
    await ask();
    const second = serviceClock.last() ?? first;
    const drift = driftBetween(first, second);
    if (second === first || Math.abs(drift) > AGREES) throw unclear(first, second);
  }
  return {
    now: () => first.service + clock.monotonic() - first.monotonic,
    isFresh: () => serviceClock.isEven(first),
    ahead,
  };
}

export function warnOfDifference({ ahead }: ServiceTime, { err }: Context): void {
  if (Math.abs(ahead) <= SAME) return;
  const text = differenceText(ahead).replace('the', 'The');
  err.warn('clock_differs', `${text}. Deadlines follow the service's clock.`);
}

async function isPlausible(ahead: number, context: Context): Promise<boolean> {
  if (Math.abs(ahead) > FAR) return false;
  const before = await lastAhead(context);
  return before === undefined || Math.abs(ahead - before) <= MOVED;
}

function unclear(first: Reading, second: Reading): CliError {
  const shown = first === second ? 'shows no time' : `shows ${local(second.service)}`;
  return new CliError(
    'notUnderstood',
    `The service's clock is unclear: a response shows ${local(first.service)}, and one 3 s later ${shown}. Nothing was changed.`,
    { hint: 'try again; to compare the clocks: gpucloud doctor', retryable: true },
  );
}
