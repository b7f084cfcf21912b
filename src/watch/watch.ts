import type { CallOptions } from '../api/index.ts';
import type { Context } from '../context.ts';
import { type CliError, isCtrlC } from '../errors.ts';
import type { Foot, Live, Output, View } from '../output/output.ts';
import { clockTime, inSeconds, relative } from '../output/time.ts';
import type { Warning } from '../warnings.ts';
import { poll, type Turn } from './poll.ts';
import { createOutage, LONGEST_WITHIN_MS } from './transient.ts';

/** The data and view of a verb with `--watch`; see {@link watch}. */
interface Watching<T, R> {
  /** Reads once and prints nothing. A thrown fault is shown until a read succeeds. */
  read(options: CallOptions): Promise<T>;
  /** Prints the command's output without `--watch`: one frame in a terminal. */
  show(reading: T, out: Output): Promise<void>;
  /** Returns the rows to print when the view can't be redrawn: each changed row. */
  rows(reading: T): readonly R[];
  readonly view: View<R>;
  /** Set if the command shows one object, so that a query gets the object instead of a list. */
  readonly one?: true;
  /**
   * Returns the faults behind missing or old parts of this read. The next read honours their
   * Retry-After.
   */
  faultsIn?(reading: T): readonly CliError[];
  /** Returns notes about this read. */
  warnings?(reading: T): readonly Warning[];
  /** Whether to stop the watch, since the data can't change any more. */
  isOver?(reading: T): boolean;
}

/**
 * Reads and shows until Ctrl-C (exit 130). A terminal redraws the view in place. If a read fails,
 * the last view stays, with its age and the fault. Outside a terminal, and in machine formats,
 * prints each changed row.
 */
export async function watch<T, R>(
  watching: Watching<T, R>,
  interval: number,
  context: Context,
): Promise<void> {
  const { clock } = context;
  // The output of --debug would break up the view.
  const live = context.flags.debug === true ? undefined : await context.out.live();
  const turns = poll({
    read: (isFirst) => watching.read(isFirst ? {} : { longestPauseMs: LONGEST_WITHIN_MS }),
    interval,
    clock,
    signal: context.signal,
    isSeen: live !== undefined,
    ...(watching.faultsIn === undefined ? {} : { faultsIn: watching.faultsIn }),
    ...(watching.isOver === undefined ? {} : { isOver: watching.isOver }),
  });
  try {
    if (live === undefined) await printChanges(turns, watching, context);
    else await redraw(turns, watching, live, interval, context);
  } catch (error) {
    // Ctrl-C is the normal way to close a view, so print no message.
    throw isCtrlC(error) ? error.with(error.message, { silent: true }) : error;
  }
}

async function printChanges<T, R>(
  turns: AsyncGenerator<Turn<T>>,
  watching: Watching<T, R>,
  context: Context,
): Promise<void> {
  const { rows, view, one } = watching;
  await context.out.changes(rowsOf(), view, one === undefined ? {} : { one });

  async function* rowsOf(): AsyncGenerator<readonly R[]> {
    const { clock, err, out } = context;
    const outage = createOutage(clock, {
      lost: (error, retryAfter) => err.warn('retrying', `${error.message} ${againIn(retryAfter)}`),
      over: () => err.note('The service is reachable again.'),
    });
    let isFirst = true;
    let shown: readonly string[] = [];
    for await (const turn of turns) {
      if (out.unread) return;
      if ('fault' in turn) {
        outage.failed(turn.fault, turn.isRequested ? turn.pause : undefined);
        continue;
      }
      outage.mended();
      const warnings = watching.warnings?.(turn.value) ?? [];
      for (const { code, message } of warnings) {
        if (!shown.includes(message)) err.warn(code, message);
      }
      shown = warnings.map(({ message }) => message);
      const current = rows(turn.value);
      if (isFirst && current.length === 0 && out.format === 'table') err.note(view.empty);
      isFirst = false;
      yield current;
    }
  }
}

/** Milliseconds between updates of an old view's age. */
const TICK_MS = 1_000;

/** An expected read counts as late after this many milliseconds. */
const LATE_MS = 3_000;

/** The last read that succeeded, and what has happened since. */
interface LastRead {
  /** Wall-clock time, to show to people. */
  readonly readAt: number;
  /** Monotonic, as is `nextAt`. */
  readonly since: number;
  readonly warnings: readonly Warning[];
  readonly nextAt: number;
  /** Whether the service requested the pause. */
  readonly isRequested: boolean;
  readonly fault?: CliError;
}

async function redraw<T, R>(
  turns: AsyncGenerator<Turn<T>>,
  watching: Watching<T, R>,
  live: Live,
  interval: number,
  context: Context,
): Promise<void> {
  const { clock, err } = context;
  const progress = err.progress('Reading');
  const held = err.hold();
  const stopped = new AbortController();
  let last: LastRead | undefined;

  function foot(): Foot[] {
    if (last === undefined) return [];
    const isOver = stopped.signal.aborted;
    const warnings = last.warnings.map(({ message }) => `warning: ${message}`);
    // Lines held back now are printed below the last frame, so leave them out of the frame.
    const notices = isOver ? warnings : [...warnings, ...held.lines];
    return [
      ...notices.map((text) => ({ text, colour: 'yellow' as const })),
      isOver ? lastLine(last, clock.monotonic()) : ageLine(last, clock.monotonic(), interval),
    ];
  }

  async function tick(): Promise<void> {
    for (;;) {
      await clock.sleep(TICK_MS, stopped.signal);
      if (last !== undefined && isOld(last, clock.monotonic())) await live.refresh();
    }
  }

  try {
    for await (const turn of turns) {
      const nextAt = clock.monotonic() + turn.pause;
      const { isRequested } = turn;
      if ('fault' in turn) {
        // The next tick shows it.
        last = last && { ...last, nextAt, isRequested, fault: turn.fault };
      } else {
        if (last === undefined) {
          progress.done();
          tick().catch(() => undefined);
        }
        const warnings = watching.warnings?.(turn.value) ?? [];
        const now = { readAt: clock.now(), since: clock.monotonic() };
        last = { ...now, warnings, nextAt, isRequested };
        await live.draw((out) => watching.show(turn.value, out), foot);
      }
      if (live.ended) return;
    }
  } finally {
    stopped.abort();
    progress.done();
    await live.end().catch(() => undefined);
    held.release();
  }
}

/** Whether the line below the view changes while no read succeeds. */
function isOld({ fault, isRequested, nextAt }: LastRead, now: number): boolean {
  return fault !== undefined || isRequested || now > nextAt + LATE_MS;
}

/** Returns the line below the view while it is watched. */
function ageLine(last: LastRead, now: number, interval: number): Foot {
  const { readAt, since, nextAt, isRequested, fault } = last;
  const left = nextAt - now;
  const age = `Last read ${relative(since, now)}`;
  if (fault !== undefined) {
    const again = againIn(isRequested ? left : undefined);
    return { text: `${age}: ${fault.message} ${again}`, colour: 'red' };
  }
  if (now > nextAt + LATE_MS) return { text: `${age}: no response yet.`, colour: 'yellow' };
  const again =
    isRequested && left > 0
      ? `refreshing in ${inSeconds(left)}, as the service requested`
      : `refreshing every ${interval / 1000} s`;
  return { text: `Read at ${clockTime(readAt)}, ${again}. Press Ctrl-C to stop.`, colour: 'dim' };
}

/** Returns the line below the last view. */
function lastLine({ readAt, since, fault }: LastRead, now: number): Foot {
  return fault === undefined
    ? { text: `Read at ${clockTime(readAt)}.`, colour: 'dim' }
    : { text: `Last read ${relative(since, now)}: ${fault.message}`, colour: 'red' };
}

/** Names only pauses that the service requested; the program's own are short. */
function againIn(retryAfter: number | undefined): string {
  return retryAfter !== undefined && retryAfter > 0
    ? `Trying again in ${inSeconds(retryAfter)}.`
    : 'Trying again.';
}
