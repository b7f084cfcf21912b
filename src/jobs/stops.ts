import type { Context } from '../context.ts';
import { CliError, ensureCliError, failuresOf, isCtrlC } from '../errors.ts';
import { type ServiceTime, serviceTime } from '../instances/deadlines/service-time.ts';
import { ownJournal } from '../instances/recover/pending.ts';
import type { Target } from '../instances/resolve.ts';
import { gpucloud } from '../output/shell-line.ts';
import { spanText } from '../output/time.ts';
import { LAST_TRY } from './verbs/hand-over.ts';

/** Milliseconds between two checks of the deadline, even before one is set. */
const [STEP, UNKNOWN] = [10_000, 1_000];
/** Milliseconds after the deadline from which this process did not see it pass. */
const UNSEEN = 2 * STEP;
/** Milliseconds between two checks whether `jobs stop` was called. */
const ASKED = 1_000;

/** Signals that stop parts of a job early. */
export interface Stops {
  /**
   * Aborts on any interrupt, a near deadline, or `jobs stop`: stops all stages before the command.
   */
  readonly any: AbortSignal;
  /** Aborts near the deadline: the command gets SIGINT, so that its results can be copied in time. */
  readonly near: AbortSignal;
  /**
   * Aborts halfway between `near` and the deadline: the existing results are copied while the
   * command still runs.
   */
  readonly half: AbortSignal;
  /** Aborts after `jobs stop`. */
  readonly asked: AbortSignal;
  /** Aborts on Ctrl-C, a signal, or the deadline itself. */
  readonly interrupt: AbortSignal;
  /** Aborts at the deadline. */
  readonly past: AbortSignal;
  /**
   * Aborts on the second Ctrl-C, SIGTERM, SIGHUP or the deadline: stops everything except the
   * termination. If this computer slept past the deadline, leaves time to copy results.
   */
  readonly last: AbortSignal;
  close(): void;
}

interface StopsFor extends Pick<Target, 'id'> {
  /** The deadline by the service's clock (ISO 8601), if it is known already. */
  readonly deadline?: string | undefined;
  /** Milliseconds before the deadline at which the command is interrupted. */
  readonly grace: number;
  /** The first Ctrl-C stops only this process: the job continues. */
  readonly leaves: boolean;
  /** Milliseconds to continue after the deadline. */
  readonly after?: number;
  /** Whether to leave time for copying results if this computer slept past the deadline. */
  readonly triesLast?: boolean;
  /** Whether `jobs stop` has asked this process to stop the job. */
  isAsked?(): boolean;
}

export function createStops(
  { id, deadline: known, grace, leaves, after = 0, triesLast = false, isAsked }: StopsFor,
  context: Context,
): Stops {
  const { interrupts, clock } = context;
  const deadline = deadlineOf(id, known, context);
  const [near, half, past] = [new AbortController(), new AbortController(), new AbortController()];
  const early = [
    [near, grace],
    [half, grace / 2],
  ] as const;
  let time: ServiceTime | undefined;
  let allowed = after;
  /** Sleeps in short steps, since a timer does not count the time while a laptop sleeps. */
  async function passDeadline(): Promise<void> {
    for (;;) {
      const at = Date.parse((await deadline()) ?? '');
      if (Number.isNaN(at)) {
        await clock.sleep(UNKNOWN, signal);
        continue;
      }
      const isKnown = time?.isFresh() === true && !context.serviceClock.isExact();
      // `reap` may enforce the deadline if the service's time can't be read here.
      if (!isKnown) time = await timeNow(context);
      if (time === undefined) {
        await clock.sleep(STEP, signal);
        continue;
      }
      const left = at + allowed - time.now();
      if (left <= 0) {
        // A process that starts or wakes up just after the deadline has had no time to copy either.
        const isUnseen = left < -UNSEEN || (grace > 0 && !near.signal.aborted);
        if (past.signal.aborted || !isUnseen || !triesLast) return;
        past.abort(isOver());
        allowed += lastTryFor(grace) - left;
        continue;
      }
      for (const [controller, before] of past.signal.aborted ? [] : early) {
        if (left <= before && !controller.signal.aborted) controller.abort(isNear());
      }
      const coming = early.flatMap(([, before]) => (left > before ? left - before : []));
      await clock.sleep(Math.min(left, STEP, ...coming), signal);
    }
  }
  const { first, second } = interrupts;
  const [last, closed] = [new AbortController(), new AbortController()];
  const onFirst = () => {
    if (leaves || !isCtrlC(first.reason)) last.abort(first.reason);
  };
  const onSecond = () => last.abort(second.reason);
  const { signal } = closed;
  first.addEventListener('abort', onFirst, { once: true, signal });
  second.addEventListener('abort', onSecond, { once: true, signal });
  if (first.aborted) onFirst();
  if (second.aborted) onSecond();
  passDeadline().then(
    () => {
      last.abort(isOver());
      past.abort(last.signal.reason);
    },
    (error: unknown) => {
      if (!signal.aborted) last.abort(error);
    },
  );
  const asked = new AbortController();
  /** Polls, since another process asks. */
  async function waitForAsking(isAskedNow: () => boolean): Promise<void> {
    while (!isAskedNow()) await clock.sleep(ASKED, signal);
    const message = `${gpucloud('jobs', 'stop')} stopped the job.`;
    asked.abort(new CliError('runFailed', message));
  }
  // Closing stops the wait.
  if (isAsked !== undefined) waitForAsking(isAsked).catch(() => undefined);
  const interrupt = AbortSignal.any([first, last.signal]);
  const any = AbortSignal.any([interrupt, asked.signal, past.signal]);
  return {
    past: past.signal,
    // A resumed job may have results, so an interrupt leaves time to copy them.
    any: leaves ? any : AbortSignal.any([any, near.signal]),
    near: near.signal,
    half: half.signal,
    asked: asked.signal,
    interrupt,
    last: last.signal,
    close: () => closed.abort(),
  };
}

const [MINUTE, LEAST, MOST] = [60_000, 2, 15];

/**
 * Returns the milliseconds before the deadline at which the command is interrupted. This is a tenth
 * of the job's time, 2 to 15 minutes, and at most half of the job's time. Without a deadline,
 * returns the grace period for a later deadline.
 */
export function graceFor(time: number | undefined): number {
  if (time === undefined) return LEAST * MINUTE;
  return Math.max(0, Math.min(Math.max(time / 10, LEAST * MINUTE), MOST * MINUTE, time / 2));
}

/** Returns the milliseconds to copy results after a deadline that passed while this computer slept. */
export function lastTryFor(grace: number): number {
  return Math.min(Math.max(grace, LEAST * MINUTE), LAST_TRY);
}

/** Formats `6 min before the deadline (--grace)`; undefined if the command is not interrupted. */
export function earlyText(grace: number): string | undefined {
  return grace === 0
    ? undefined
    : `${spanText(Math.round(grace / 1000))} before the deadline (--grace)`;
}

function isOver(): CliError {
  return new CliError('deadline', 'The deadline has passed.');
}

function isNear(): CliError {
  return new CliError('deadline', 'The deadline is near.');
}

/** Returns undefined if the service's time can't be read. */
async function timeNow(context: Context): Promise<ServiceTime | undefined> {
  try {
    return await serviceTime(context);
  } catch (error) {
    ensureCliError(error);
    return undefined;
  }
}

/** Polls the deadline of an instance, since `expire` can move it. */
function deadlineOf(
  id: string,
  known: string | undefined,
  context: Context,
): () => Promise<string | undefined> {
  let last = known;
  let isStored = false;
  return async () => {
    const journal = await ownJournal(context);
    const read = async () => {
      const { deadline } = await journal.ends(id);
      if (deadline != null) last = deadline;
      else if (deadline === null && isStored) last = undefined;
      isStored ||= deadline != null;
    };
    // Keeps the last deadline if the journal can't be read.
    await failuresOf(read());
    return last;
  };
}
