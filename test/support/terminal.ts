import headless from '@xterm/headless';
import { openPty } from './pty.ts';

/** A program in a terminal of its own, as a person has it. */
export interface Terminal {
  /** What the screen shows now, without spaces at the ends of lines and empty lines below. */
  screen(): string;
  /** All that was shown and scrolled away, with the screen. */
  scrollback(): string;
  /** Where the cursor stands, counted from 0. */
  cursor(): { readonly x: number; readonly y: number };
  /** Everything that the program has written. */
  written(): string;
  /** Waits until the screen fits; fails with the screen after twenty seconds. */
  shows(pattern: RegExp | ((screen: string) => boolean)): Promise<string>;
  /** Types keys: `\u0003` is Ctrl-C. */
  type(keys: string): void;
  /** The person changes the size of the window. */
  resize(columns: number, rows: number): void;
  kill(signal: string): void;
  readonly pid: number;
  /** The exit code, once the program has ended and the screen shows all that it wrote. */
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

export function openTerminal(options: TerminalOptions): Terminal {
  const { program, args, env, cwd, columns = 100, rows = 30, term = 'xterm-256color' } = options;
  const emulator = new headless.Terminal({
    // The emulator knows no screen without columns; the program is told of none all the same.
    cols: Math.max(columns, 2),
    rows: Math.max(rows, 1),
    allowProposedApi: true,
  });
  let written = '';
  let code: number | undefined;
  const child = openPty({
    program,
    args,
    cols: Math.max(columns, 1),
    rows: Math.max(rows, 1),
    name: term,
    cwd,
    env: { TERM: term, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', ...env },
    onData(text) {
      written += text;
      emulator.write(text);
    },
  });
  void child.ended.then(({ exitCode, signal }) => {
    code = signal > 0 ? 128 + signal : exitCode;
  });

  function lines(from: number): string {
    const { active } = emulator.buffer;
    return Array.from(
      { length: active.length - from },
      // Cells behind the edge, of a line that was longer once, are not seen.
      (_, at) => active.getLine(from + at)?.translateToString(false, 0, emulator.cols) ?? '',
    )
      .map((line) => line.trimEnd())
      .join('\n')
      .trimEnd();
  }
  const screen = () => lines(emulator.buffer.active.baseY);

  async function until(what: string, fits: () => boolean): Promise<void> {
    const start = Date.now();
    while (!fits()) {
      if (Date.now() - start > PATIENCE_MS) {
        throw new Error(`${what} in vain; the screen shows:\n${screen()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  return {
    screen,
    scrollback: () => lines(0),
    cursor: () => ({ x: emulator.buffer.active.cursorX, y: emulator.buffer.active.cursorY }),
    written: () => written,
    pid: child.pid,
    async shows(pattern) {
      const fits = typeof pattern === 'function' ? pattern : (text: string) => pattern.test(text);
      await until(`waited for ${pattern}`, () => fits(screen()));
      return screen();
    },
    type: (keys) => child.write(keys),
    resize(width, height) {
      emulator.resize(width, height);
      child.resize(width, height);
    },
    kill: (signal) => child.kill(signal),
    async ended() {
      await until('waited for the end', () => code !== undefined);
      await new Promise<void>((resolve) => emulator.write('', resolve));
      return code ?? -1;
    },
    async close() {
      if (code === undefined) {
        child.kill('SIGKILL');
        await until('waited for the end', () => code !== undefined);
      }
      emulator.dispose();
    },
  };
}
