import type { Clock } from '../../clock.ts';
import { clean } from '../../rules/clean.ts';
import type { Progress } from '../output.ts';
import type { Board } from './board.ts';
import { type Spinner, startSpinner, type Terminal } from './spinner.ts';

/** Milliseconds before a spinner appears, so that fast commands never load ora. */
const PATIENCE = 150;

interface ProgressOptions {
  readonly stderr: Terminal;
  readonly clock: Clock;
}

export interface ProgressLines {
  begin(text: string): Progress;
  /** Writes permanent lines; false if nothing is drawn that they would tear. */
  above(text: string): boolean;
}

interface Going {
  text: string;
  over: boolean;
}

/**
 * Shows a person at a terminal what is in progress: a spinner for one task, a line each for
 * several. The lines stay until all tasks end, then make room for the result.
 */
export function createProgress({ stderr, clock }: ProgressOptions): ProgressLines {
  let going: Going[] = [];
  let endSpinner: (() => void) | undefined;
  let renewSpinner: (() => void) | undefined;
  let board: Board | undefined;
  let planned = false;

  function spin(one: Going): void {
    const ended = new AbortController();
    let spinner: Spinner | undefined;
    async function start(): Promise<void> {
      await clock.sleep(PATIENCE, ended.signal);
      spinner = await startSpinner(stderr, () => one.text, ended.signal);
    }
    start().catch(() => undefined);
    renewSpinner = () => spinner?.text(one.text);
    endSpinner = () => {
      ended.abort();
      spinner?.stop();
      endSpinner = undefined;
      renewSpinner = undefined;
    };
  }

  /** Draws all changes of one turn at once. */
  function drawSoon(): void {
    if (planned) return;
    planned = true;
    setImmediate(() => {
      planned = false;
      board?.show(going);
    });
  }

  async function toBoard(): Promise<void> {
    endSpinner?.();
    const { createBoard } = await import('./board.ts');
    if (going.length === 0) return;
    board ??= createBoard(stderr);
    drawSoon();
  }

  function clear(): void {
    going = [];
    board?.show([]);
    board = undefined;
  }

  return {
    above(text) {
      board?.above(text);
      return board !== undefined;
    },
    begin(text) {
      const one = { text: clean(text), over: false };
      going.push(one);
      if (going.length === 1) spin(one);
      else if (going.length === 2) void toBoard();
      drawSoon();
      return {
        update(next) {
          one.text = clean(next);
          renewSpinner?.();
          drawSoon();
        },
        done(last) {
          if (one.over) return;
          one.over = true;
          if (last !== undefined) one.text = clean(last);
          endSpinner?.();
          if (going.every(({ over }) => over)) clear();
          else drawSoon();
        },
      };
    },
  };
}
