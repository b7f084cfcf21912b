import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';

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

/** `left`: milliseconds to the deadline; undefined without one. */
export function createStops(
  left: number | undefined,
  { interrupts, clock }: Pick<Context, 'interrupts' | 'clock'>,
): Stops {
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
  if (left !== undefined) {
    clock.sleep(Math.max(0, left), signal).then(
      () => last.abort(new CliError('deadline', 'The deadline has passed.')),
      () => undefined,
    );
  }
  return {
    any: AbortSignal.any([first, last.signal]),
    last: last.signal,
    close: () => closed.abort(),
  };
}
