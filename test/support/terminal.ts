import { afterwards } from './afterwards.ts';
import { openPty } from './pty.ts';
import { createScreen } from './screen.ts';

/** A program in its own terminal. */
export interface Terminal {
  /** Returns the current screen, without trailing blanks and empty lines. */
  screen(): string;
  /** Returns the screen and everything that scrolled away above it. */
  scrollback(): string;
  /** Returns the screen with wrapped lines joined. */
  unbroken(): string;
  /** Returns the cursor's position, from 0. */
  cursor(): { readonly x: number; readonly y: number };
  /** Returns everything that the program has written. */
  written(): string;
  /** Waits until the screen matches; after twenty seconds, fails with the screen. */
  shows(pattern: RegExp | ((screen: string) => boolean)): Promise<string>;
  /** Waits until the cursor's line matches. */
  prompts(pattern: RegExp): Promise<string>;
  /** Waits for a moment without output: a frame may arrive in parts, and a spinner never stops. */
  rests(): Promise<void>;
  /** Types keys: `\u0003` is Ctrl-C. */
  type(keys: string): void;
  /** Resizes the window. */
  resize(columns: number, rows: number): void;
  kill(signal: string): void;
  readonly pid: number;
  hasEnded(): boolean;
  /** Resolves with the exit code once the screen shows all output. */
  ended(): Promise<number>;
  close(): Promise<void>;
}

export interface TerminalOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly columns?: number;
  readonly rows?: number;
  readonly term?: string;
}

const PATIENCE_MS = 20_000;
const QUIET_MS = 40;

export function openTerminal(options: TerminalOptions): Terminal {
  const { program, args, env, cwd, columns = 100, rows = 30, term = 'xterm-256color' } = options;
  const screen = createScreen({ columns, rows });
  let written = '';
  let changed = 0;
  let code: number | undefined;
  const child = openPty({
    program,
    args,
    cols: columns,
    rows,
    name: term,
    cwd,
    env: { TERM: term, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', ...env },
    onData(text) {
      written += text;
      changed = Date.now();
      screen.write(text);
    },
  });
  // Shells query the terminal and wait for the reply.
  screen.onReply((text) => child.write(text));
  void child.ended.then(({ exitCode, signal }) =>
    screen.write('', () => {
      code = signal > 0 ? 128 + signal : exitCode;
    }),
  );

  async function until(what: string, fits: () => boolean): Promise<void> {
    const start = Date.now();
    while (!fits()) {
      if (Date.now() - start > PATIENCE_MS) {
        throw new Error(`${what} in vain; the terminal shows:\n${screen.unbroken()}`);
      }
      await pause(15);
    }
  }

  return {
    screen: screen.shown,
    scrollback: screen.all,
    unbroken: screen.unbroken,
    cursor: screen.cursor,
    written: () => written,
    pid: child.pid,
    async shows(pattern) {
      const fits = typeof pattern === 'function' ? pattern : (text: string) => pattern.test(text);
      await until(`waited for ${pattern}`, () => fits(screen.shown()));
      return screen.shown();
    },
    async prompts(pattern) {
      await until(`waited for the line ${pattern}`, () => pattern.test(screen.line()));
      return screen.shown();
    },
    async rests() {
      for (let tries = 0; tries < 10 && Date.now() - changed < QUIET_MS; tries += 1)
        await pause(15);
    },
    type: (keys) => child.write(keys),
    resize(width, height) {
      screen.resize(width, height);
      child.resize(width, height);
    },
    kill: (signal) => child.kill(signal),
    hasEnded: () => code !== undefined,
    async ended() {
      await until('waited for the end', () => code !== undefined);
      return code ?? -1;
    },
    close: afterwards(async () => {
      if (code === undefined) {
        child.kill('SIGKILL');
        await until('waited for the end', () => code !== undefined);
      }
      screen.dispose();
    }),
  };
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
