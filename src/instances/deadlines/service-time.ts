import { driftBetween, type Reading } from '../../context/service-clock.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { local } from '../../output/time.ts';
import { CLOCKS } from '../../system/clock.ts';
import { differenceText, lastAhead } from './armed.ts';

/** Milliseconds between the two responses: enough to notice a stopped clock. */
const PAUSE = 3_000;

/** The service's time, certain enough to terminate an instance. */
export interface ServiceTime {
  now(): number;
  /** Whether the time is still usable: this computer has not slept since. */
  isFresh(): boolean;
  /** How far the service's clock is ahead of this computer's, in milliseconds. */
  readonly ahead: number;
}

/**
 * Determines the service's time. `ask` sends a request whose response shows it. A second response
 * must agree if the time is far from this computer's, or if the difference has changed since the
 * last scheduled pass. Throws CliError('notUnderstood') if the second response does not agree, or
 * if no response shows the time.
 */
export async function serviceTime(
  context: Context,
  ask: () => Promise<unknown> = async () => (await context.api()).users.me(),
): Promise<ServiceTime> {
  const { serviceClock, clock, signal } = context;
  if (!serviceClock.isKnown()) await ask();
  if (serviceClock.isExact()) {
    await readSandboxTime(context);
    return { now: serviceClock.now, isFresh: () => true, ahead: 0 };
  }
  const first = serviceClock.last();
  if (first === undefined || !serviceClock.isKnown()) {
    throw new CliError(
      'notUnderstood',
      "Could not read the service's clock, which deadlines follow: the response has no Date header.",
    );
  }
  const ahead = first.service - first.now;
  if (!(await isPlausible(ahead, context))) {
    await clock.sleep(PAUSE, signal);
    await ask();
    const second = serviceClock.last() ?? first;
    const drift = driftBetween(first, second);
    if (second === first || Math.abs(drift) > CLOCKS.agree) throw unclear(first, second);
  }
  return {
    now: () => first.service + clock.monotonic() - first.monotonic,
    isFresh: () => serviceClock.isEven(first),
    ahead,
  };
}

/** Reads the sandbox's clock again: another process may have advanced it. */
export async function readSandboxTime({ sandbox, serviceClock }: Context): Promise<void> {
  const { now } = await (await sandbox()).status();
  serviceClock.set(Date.parse(now));
}

export function warnOfDifference({ ahead }: ServiceTime, { err }: Context): void {
  if (Math.abs(ahead) <= CLOCKS.noticed) return;
  const text = differenceText(ahead).replace('the', 'The');
  err.warn('clock_differs', `${text}. Deadlines follow the service's clock.`);
}

async function isPlausible(ahead: number, context: Context): Promise<boolean> {
  if (Math.abs(ahead) > CLOCKS.wrong) return false;
  const before = await lastAhead(context);
  return before === undefined || Math.abs(ahead - before) <= CLOCKS.moved;
}

function unclear(first: Reading, second: Reading): CliError {
  const shown = first === second ? 'shows no time' : `shows ${local(second.service)}`;
  return new CliError(
    'notUnderstood',
    `The service's clock is inconsistent: one response shows ${local(first.service)}, and the next, 3 s later, ${shown}. No changes made.`,
    { hint: `try again; compare the clocks: ${gpucloud('doctor')}`, retryable: true },
  );
}
