import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';

/** Milliseconds between two looks at the deadline, and until there is one. */
const [STEP, UNKNOWN] = [10_000, 1_000];

/** Signals that end parts of a job early. */
export interface Stops {
  /** Any interrupt or the deadline: ends everything before the command runs. */
  readonly any: AbortSignal;
  /**
   * The second Ctrl-C, SIGTERM, SIGHUP or the deadline: ends everything but the termination of the
   * instance.
   */
  readonly last: AbortSignal;
  close(): void;
}

/** `deadline` is by the service's clock (ISO 8601); it may move, and undefined is none. */
export function createStops(
  deadline: () => Promise<string | undefined>,
  { interrupts, clock, serviceClock }: Pick<Context, 'interrupts' | 'clock' | 'serviceClock'>,
): Stops {
  /** In short steps: a timer does not count the time for which a laptop sleeps. */
  async function passDeadline(closed: AbortSignal): Promise<void> {
    for (;;) {
      const time = Date.parse((await deadline()) ?? '');
      const left = serviceClock.isKnown() ? time - serviceClock.now() : Number.NaN;
      if (left <= 0) return;
      await clock.sleep(Number.isNaN(left) ? UNKNOWN : Math.min(left, STEP), closed);
    }
  }
  const { first, second } = interrupts;
  const [last, closed] = [new AbortController(), new AbortController()];
  const isCtrlC = ({ reason }: AbortSignal) =>
    reason instanceof CliError && reason.failure === 'interrupted';
  const onFirst = () => {
    if (!isCtrlC(first)) last.abort(first.reason);
  };
  const onSecond = () => last.abort(second.reason);
  const { signal } = closed;
  first.addEventListener('abort', onFirst, { once: true, signal });
  second.addEventListener('abort', onSecond, { once: true, signal });
  if (first.aborted) onFirst();
  if (second.aborted) onSecond();
  passDeadline(signal).then(
    () => last.abort(new CliError('deadline', 'The deadline has passed.')),
    (error: unknown) => {
      if (!signal.aborted) last.abort(error);
    },
  );
  return {
    any: AbortSignal.any([first, last.signal]),
    last: last.signal,
    close: () => closed.abort(),
  };
}
