import type { Clock } from '../../clock.ts';
import { clean } from '../../rules/clean.ts';
import type { Progress } from '../output.ts';
import { type Spinner, startSpinner, type Terminal } from './spinner.ts';

/** Milliseconds before a spinner appears, so that fast commands never load ora. */
const PATIENCE = 150;

interface Task {
  text: string;
  over: boolean;
}

/**
 * Shows a person at a terminal what is in progress: a spinner with a line per task. The lines stay
 * until all tasks end, then make room for the result.
 */
export function createProgress(stderr: Terminal, clock: Clock): (text: string) => Progress {
  let tasks: Task[] = [];
  let ended = new AbortController();
  let spinner: Spinner | undefined;

  /** Unfinished tasks come first, since ora cuts off what exceeds the terminal's height. */
  function lines(): string {
    const inOrder = [...tasks.filter(({ over }) => !over), ...tasks.filter(({ over }) => over)];
    return inOrder.map(({ text }) => text).join('\n  ');
  }

  async function spin(): Promise<void> {
    const { signal } = ended;
    await clock.sleep(PATIENCE, signal);
    const started = await startSpinner(stderr, lines, signal);
    // The tasks may have ended at this very moment.
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
