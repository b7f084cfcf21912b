import headless from '@xterm/headless';
import type { Computer } from './program.ts';
import { PROGRAM } from './program.ts';
import { openPty } from './pty.ts';

/** A person at a terminal in which the built program runs. */
export interface Person {
  /** Types keys, as they are. */
  type(keys: string): Promise<void>;
  /** Waits until the screen shows it; fails with the screen after twenty seconds. */
  reads(pattern: RegExp | string): Promise<string>;
  /** Waits for it, then types keys. */
  answers(pattern: RegExp | string, keys: string): Promise<void>;
  /** Everything that was ever on the screen, with the lines whole that the terminal itself broke. */
  screen(): string;
  /** The same as the terminal's own rows. */
  lines(): string[];
  /** Every byte that the program wrote. */
  written(): string;
  /** The cursor's place: the column, and the line from the first one. */
  cursor(): { column: number; line: number };
  /** The exit code, once it has ended. */
  ended(): Promise<number>;
  close(): Promise<void>;
}

export interface PersonOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** What runs in place of the built program. */
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
  clearLine: '\u0015',
} as const;

const PATIENCE = 20_000;
const QUIET = 40;

export function sitDown(
  computer: Computer,
  argv: readonly string[],
  { columns = 80, rows = 40, env = {}, program }: PersonOptions = {},
): Person {
  const size = { cols: columns, rows };
  const screen = new headless.Terminal({ ...size, allowProposedApi: true, scrollback: 2000 });
  const [command, ...before] = program ?? [process.execPath, PROGRAM];
  let written = '';
  let changed = 0;
  let code: number | undefined;
  let pending = Promise.resolve();
  const child = openPty({
    program: command,
    args: [...before, ...argv],
    ...size,
    cwd: computer.home,
    name: env.TERM ?? 'xterm-256color',
    env: { LANG: 'C.UTF-8', ...computer.env, ...env },
    onData(text) {
      written += text;
      changed = Date.now();
      pending = new Promise((resolve) => screen.write(text, resolve));
    },
  });
  /** The exit code, once the screen shows all that was written. */
  const ended = child.ended.then(async ({ exitCode }) => {
    await pending;
    code = exitCode;
    return exitCode;
  });

  function rowsOf(whole: boolean): string[] {
    const { active } = screen.buffer;
    const all: string[] = [];
    for (let at = 0; at < active.length; at += 1) {
      const row = active.getLine(at);
      const isRest = whole && row?.isWrapped === true;
      const isBroken = whole && active.getLine(at + 1)?.isWrapped === true;
      const words = `${isRest ? (all.pop() ?? '') : ''}${row?.translateToString(!isBroken) ?? ''}`;
      all.push(isBroken ? words : words.trimEnd());
    }
    while (all.at(-1) === '') all.pop();
    return all;
  }

  const text = () => rowsOf(true).join('\n');

  async function reads(pattern: RegExp | string): Promise<string> {
    const start = Date.now();
    const fits = () =>
      typeof pattern === 'string' ? text().includes(pattern) : pattern.test(text());
    for (;;) {
      const isLast = code !== undefined || Date.now() - start > PATIENCE;
      if (fits()) break;
      if (isLast) throw new Error(`the screen never showed ${pattern}:\n${text()}`);
      await pause(15);
    }
    // A frame may come in pieces; a spinner never rests.
    for (let tries = 0; tries < 10 && Date.now() - changed < QUIET; tries += 1) await pause(15);
    await pending;
    return text();
  }

  async function type(keys: string): Promise<void> {
    // One key at a time, as people do: inquirer drops what comes in the same tick as its question.
    await pause(30);
    for (const [key] of keys.matchAll(/\u001b\[[A-Z]|[\s\S]/gu)) {
      child.write(key);
      await pause(key < ' ' ? 12 : 1);
    }
  }

  return {
    type,
    reads,
    async answers(pattern, keys) {
      await reads(pattern);
      await type(keys);
    },
    screen: text,
    lines: () => rowsOf(false),
    written: () => written,
    cursor() {
      const { active } = screen.buffer;
      return { column: active.cursorX, line: active.baseY + active.cursorY };
    },
    async ended() {
      const late = new Promise<never>((_, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`it goes on and on:\n${text()}`)),
          PATIENCE,
        );
        void ended.then(() => clearTimeout(timer));
      });
      return await Promise.race([ended, late]);
    },
    async close() {
      if (code === undefined) child.kill('SIGKILL');
      await ended;
      screen.dispose();
    },
  };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
