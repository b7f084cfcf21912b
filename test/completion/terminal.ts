import headless from '@xterm/headless';
import { openPty } from '../support/pty.ts';

/** A shell in a terminal of its own, as a person has it. */
export interface Shell {
  /** Types keys; `\t` is Tab, `\r` Enter. */
  type(keys: string): void;
  /** What the screen shows, once it fits; fails with the screen after ten seconds. */
  shows(pattern: RegExp): Promise<string>;
  /** What the screen shows, once something is so. */
  until(fits: () => boolean): Promise<string>;
  /** What the screen shows, once the line of the cursor fits. */
  prompts(pattern: RegExp): Promise<string>;
  /** What the screen shows, once the program has ended. */
  ended(): Promise<string>;
  /** All bytes that reached the terminal. */
  raw(): string;
  close(): Promise<void>;
}

export interface ShellOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

const PATIENCE = 10_000;

export function openShell({ program, args, env, cwd }: ShellOptions): Shell {
  const size = { cols: 120, rows: 60 };
  const screen = new headless.Terminal({ ...size, allowProposedApi: true });
  let raw = '';
  const child = openPty({
    program,
    args,
    ...size,
    name: 'xterm-256color',
    cwd,
    env: { TERM: 'xterm-256color', LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', ...env },
    onData(text) {
      raw += text;
      screen.write(text);
    },
  });
  let isOver = false;
  void child.ended.then(() =>
    screen.write('', () => {
      isOver = true;
    }),
  );
  // Shells ask the terminal who it is, and wait for the answer.
  screen.onData((answer) => child.write(answer));

  function text(): string {
    const { active } = screen.buffer;
    const lines = Array.from(
      { length: active.length },
      (_, at) => active.getLine(at)?.translateToString(true) ?? '',
    );
    return lines.join('\n').trimEnd();
  }

  function line(): string {
    const { active } = screen.buffer;
    return (active.getLine(active.baseY + active.cursorY)?.translateToString() ?? '').trimEnd();
  }

  async function until(fits: () => boolean): Promise<string> {
    const start = Date.now();
    while (!fits()) {
      if (Date.now() - start > PATIENCE) {
        throw new Error(`the screen does not show what was waited for:\n${text()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return text();
  }

  return {
    type: (keys) => child.write(keys),
    shows: (pattern) => until(() => pattern.test(text())),
    until,
    prompts: (pattern) => until(() => pattern.test(line())),
    ended: () => until(() => isOver),
    raw: () => raw,
    async close() {
      if (!isOver) child.kill('SIGKILL');
      await child.ended;
      screen.dispose();
    },
  };
}
