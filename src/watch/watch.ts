import type { CallOptions } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import type { Foot, Live, Output, View } from '../output/output.ts';
import { clockTime, relative } from '../output/time.ts';
import type { Warning } from '../warnings.ts';
import { createOutage } from './outage.ts';
import { poll, type Turn } from './poll.ts';
import { LONGEST_WITHIN_MS } from './transient.ts';

/** What a verb with `--watch` reads and shows; see {@link watch}. */
interface Watching<T, R> {
  /** One reading. It prints nothing; a fault that is thrown is shown until a reading succeeds. */
  read(options: CallOptions): Promise<T>;
  /** Prints what the command prints without `--watch`: a frame of the view in a terminal. */
  show(reading: T, out: Output): Promise<void>;
  /** What is printed of a reading where nothing can be redrawn: each row when it has changed. */
  rows(reading: T): readonly R[];
  readonly view: View<R>;
  /** The command is about one thing: a query looks at it, and not at a list of it. */
  readonly one?: true;
  /** Why parts of this reading are missing or old: the next waits for as long as the service asks. */
  faultsIn?(reading: T): readonly CliError[];
  /** What else a person should know of this reading. */
  warnings?(reading: T): readonly Warning[];
  /** Nothing changes any more, so that the watch ends by itself. */
  isOver?(reading: T): boolean;
}

/**
 * Reads and shows until Ctrl-C (exit 130), without an end of its own. On a terminal the view is
 * redrawn in place; a reading that fails leaves it there with its age and the fault. Elsewhere, and
 * in the formats for programs, the rows that changed are printed as they change.
 */
export async function watch<T, R>(
  watching: Watching<T, R>,
  interval: number,
  context: Context,
): Promise<void> {
  const { clock } = context;
  // A reader who has gone ends the readings too, whatever they wait for.
  const left = new AbortController();
  const signal = AbortSignal.any([context.signal, left.signal]);
  // What --debug prints would stand across the view.
  const live = context.flags.debug === true ? undefined : await context.out.live();
  const turns = poll({
    read: (isFirst) => watching.read(isFirst ? {} : { longestPauseMs: LONGEST_WITHIN_MS }),
    interval,
    clock,
    signal,
    isSeen: live !== undefined,
    ...(watching.faultsIn === undefined ? {} : { faultsIn: watching.faultsIn }),
    ...(watching.isOver === undefined ? {} : { isOver: watching.isOver }),
  });
  try {
    if (live === undefined) await printChanges(turns, watching, context);
    else await redraw(turns, watching, live, interval, context);
  } catch (error) {
    // Ctrl-C is how a view without an end is left, so it needs no message.
    const isCtrlC = error instanceof CliError && error.failure === 'interrupted';
    throw isCtrlC ? error.with(error.message, { silent: true }) : error;
  } finally {
    left.abort();
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
      over: () => err.note('The service answers again.'),
    });
    let isFirst = true;
    let shown: readonly string[] = [];
    for await (const turn of turns) {
      if ('fault' in turn) {
        outage.failed(turn.fault, turn.isAsked ? turn.pause : undefined);
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

/** How often the age of a view that could not be read again is renewed. */
const TICK_MS = 1_000;

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
  let readAt = 0;
  let nextAt = 0;
  let asked = false;
  let fault: CliError | undefined;
  let warnings: readonly Warning[] = [];
  let over = false;

  const isLate = () => clock.now() > nextAt + LATE_MS;
  function foot(): Foot[] {
    // Held lines are printed below the last frame, so they are not in it.
    const notes = over ? [] : held.lines;
    const said = [...warnings.map(({ message }) => `warning: ${message}`), ...notes];
    return [...said.map((text) => ({ text, colour: 'yellow' as const })), ageLine()];
  }

  function ageLine(): Foot {
    const left = nextAt - clock.now();
    const age = `Last read ${relative(readAt, clock.now())}`;
    if (fault !== undefined) {
      const again = over ? '' : ` ${againIn(asked ? left : undefined)}`;
      return { text: `${age}: ${fault.message}${again}`, colour: 'red' };
    }
    if (over) return { text: `Read at ${clockTime(readAt)}.`, colour: 'dim' };
    if (isLate()) return { text: `${age}: no answer yet.`, colour: 'yellow' };
    const again =
      asked && left > 0
        ? `again in ${inSeconds(left)}, as the service asks`
        : `again every ${interval / 1000} s`;
    return { text: `Read at ${clockTime(readAt)}, ${again}. Ctrl-C ends.`, colour: 'dim' };
  }

  async function tick(): Promise<void> {
    for (;;) {
      await clock.sleep(TICK_MS, stopped.signal);
      if (fault !== undefined || asked || isLate()) await live.refresh();
    }
  }

  try {
    for await (const turn of turns) {
      nextAt = clock.now() + turn.pause;
      asked = turn.isAsked;
      if ('fault' in turn) {
        fault = turn.fault;
        await live.refresh();
      } else {
        if (readAt === 0) {
          progress.done();
          tick().catch(() => undefined);
        }
        fault = undefined;
        readAt = clock.now();
        warnings = watching.warnings?.(turn.value) ?? [];
        await live.draw((out) => watching.show(turn.value, out), foot);
      }
      if (live.ended) return;
    }
  } finally {
    stopped.abort();
    progress.done();
    over = true;
    await live.end().catch(() => undefined);
    held.release();
  }
}

/** A reading is late when it takes this much longer than the pause. */
const LATE_MS = 3_000;

/** Our own pauses are short; the service may ask for a longer one. */
function againIn(retryAfter: number | undefined): string {
  return retryAfter !== undefined && retryAfter > 0
    ? `Trying again in ${inSeconds(retryAfter)}.`
    : 'Trying again.';
}

function inSeconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 1000)} s`;
}
