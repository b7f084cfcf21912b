import type { Writable } from 'node:stream';
import { clean } from '../../rules/clean.ts';
import type { Clock } from '../../system/clock.ts';
import type { Progress } from '../output.ts';

/** stderr properties that a spinner uses. */
export type Terminal = Writable & { isTTY?: boolean; columns?: number };

interface Spinner {
  text: string;
  /** Removes the spinner. */
  stop(): void;
}

/**
 * Whether ora can draw: it never wraps a line without columns, and writes lines to a non-TTY
 * stream.
 */
export function canSpin(
  stream: Terminal,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && Number(stream.columns) > 0 && env.TERM !== 'dumb';
}

/**
 * Loads ora and starts it, unless `ended` is aborted first. Reads `text` at the start, since it may
 * change while ora loads.
 */
async function startSpinner(
  stream: Terminal,
  text: () => string,
  ended: AbortSignal,
): Promise<Spinner | undefined> {
  const { default: ora } = await import('ora');
  if (ended.aborted) return undefined;
  return ora({
    text: text(),
    stream,
    // ora uses only the terminal's sixteen colours, and they may be unreadable.
    color: false,
    // The caller has checked for a terminal; ora would check the environment again.
    isEnabled: true,
    // A killed process could not show the cursor again, so don't hide it.
    hideCursor: false,
    // Otherwise ora swallows Ctrl-C, so the user could not cancel a request.
    discardStdin: false,
  }).start();
}

/** Milliseconds before a spinner appears, so that fast commands never load ora. */
const PATIENCE = 150;

interface Task {
  text: string;
  over: boolean;
}

/**
 * Shows a spinner in a terminal, with one line per task. Removes the lines when all tasks are done,
 * since the result follows.
 */
export function createProgress(stderr: Terminal, clock: Clock): (text: string) => Progress {
  let tasks: Task[] = [];
  let ended = new AbortController();
  let spinner: Spinner | undefined;

  /** Put unfinished tasks first, since ora cuts off lines beyond the terminal's height. */
  function lines(): string {
    const inOrder = [...tasks.filter(({ over }) => !over), ...tasks.filter(({ over }) => over)];
    return inOrder.map(({ text }) => text).join('\n  ');
  }

  async function spin(): Promise<void> {
    const { signal } = ended;
    await clock.sleep(PATIENCE, signal);
    const started = await startSpinner(stderr, lines, signal);
    // The tasks may be done before ora has started.
    if (signal.aborted) started?.stop();
    else spinner = started;
  }

  function show(): void {
    if (spinner !== undefined) spinner.text = lines();
    if (tasks.some(({ over }) => !over)) return;
    ended.abort();
    ended = new AbortController();
    spinner?.stop();
    spinner = undefined;
    tasks = [];
  }

  return (text) => {
    const task = { text: clean(text), over: false };
    if (tasks.push(task) === 1) spin().catch(() => undefined);
    show();
    return {
      update(next) {
        task.text = clean(next);
        show();
      },
      done(last) {
        if (task.over) return;
        task.over = true;
        if (last !== undefined) task.text = clean(last);
        show();
      },
    };
  };
}
