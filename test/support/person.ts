import type { Computer } from './program.ts';
import { PROGRAM, RUNNER } from './program.ts';
import { openTerminal, pause, type Terminal } from './terminal.ts';

/** Simulates a person at a terminal with the built program. */
export interface Person extends Pick<Terminal, 'written' | 'ended' | 'close'> {
  /** Types keys one by one. */
  type(keys: string): Promise<void>;
  /** Waits until the terminal shows the pattern; after twenty seconds, fails with the screen. */
  reads(pattern: RegExp | string): Promise<string>;
  /** Waits for a text, then types keys. */
  answers(pattern: RegExp | string, keys: string): Promise<void>;
  /** Returns everything that was on the screen, with wrapped lines joined. */
  screen(): string;
  /** Returns the screen as the terminal's rows. */
  lines(): string[];
}

export interface PersonOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Program to run instead of the built one. */
  readonly program?: readonly [string, ...string[]];
}

export const KEYS = {
  enter: '\r',
  down: '\u001b[B',
  up: '\u001b[A',
  space: ' ',
  tab: '\t',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  esc: '\u001b',
  clearLine: '\u0015',
} as const;

export function sitDown(
  computer: Computer,
  argv: readonly string[],
  { columns = 80, rows = 40, env = {}, program = [RUNNER, PROGRAM] }: PersonOptions = {},
): Person {
  const [command, ...before] = program;
  const terminal = openTerminal({
    program: command,
    args: [...before, ...argv],
    env: { ...computer.env, ...env },
    cwd: computer.home,
    columns,
    rows,
    ...(env.TERM === undefined ? {} : { term: env.TERM }),
  });

  async function reads(pattern: RegExp | string): Promise<string> {
    const fits = () => {
      const text = terminal.unbroken();
      return typeof pattern === 'string' ? text.includes(pattern) : pattern.test(text);
    };
    await terminal.shows(() => terminal.hasEnded() || fits());
    await terminal.rests();
    if (!fits()) throw new Error(`the terminal never showed ${pattern}:\n${terminal.unbroken()}`);
    return terminal.unbroken();
  }

  async function type(keys: string): Promise<void> {
    // Types one key at a time: inquirer drops keys that arrive together with its question.
    await pause(30);
    for (const [key] of keys.matchAll(/\u001b\[[A-Z]|[\s\S]/gu)) {
      terminal.type(key);
      await pause(key < ' ' ? 12 : 1);
    }
  }

  return {
    ...terminal,
    type,
    reads,
    async answers(pattern, keys) {
      await reads(pattern);
      await type(keys);
    },
    screen: terminal.unbroken,
    lines: () => terminal.scrollback().split('\n'),
  };
}
