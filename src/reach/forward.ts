import type { Program, Running } from '../programs.ts';

/** What an ssh that holds a tunnel tells. */
export interface Listener {
  /** The tunnel is open: connections are taken. */
  open(): void;
  /** A line for the person: a banner of the machine, a warning of ssh. */
  say(line: string): void;
  /** A line of ssh's own log. */
  log(line: string): void;
}

export interface Forward {
  /** Its exit code, and what it said last. */
  readonly ended: Promise<{ readonly code: number; readonly said: string }>;
  close(): void;
}

/** Enough for the warning of a changed host key. */
const KEPT = 4_000;

/**
 * Starts the ssh of a tunnel (see tunnelArgv). That it listens is read from its log, since a look at
 * the port itself would be a connection to whatever listens on the machine.
 */
export async function openForward(
  argv: readonly string[],
  start: (program: Omit<Program, 'env'>) => Promise<Running>,
  listener: Listener,
): Promise<Forward> {
  const [file = 'ssh', ...args] = argv;
  let said = '';
  let rest = '';
  const running = await start({
    file,
    args: ['-v', ...args],
    hear(text) {
      const lines = (rest + text).split(/\r?\n/);
      rest = lines.pop() ?? '';
      for (const line of lines) hear(line);
    },
  });
  function hear(line: string): void {
    if (line === 'debug1: Entering interactive session.') listener.open();
    if (isLog(line)) {
      listener.log(line);
    } else if (line.trim() !== '') {
      said = `${said}${line}\n`.slice(-KEPT);
      listener.say(line);
    }
  }
  return {
    ended: running.ended.then((code) => {
      hear(rest);
      return { code, said };
    }),
    close: () => running.kill('SIGTERM'),
  };
}

/** What `-v` adds to what ssh would say without it. */
function isLog(line: string): boolean {
  return /^(?:debug[123]: |OpenSSH_|Authenticated to |Transferred: |Bytes per second: )/.test(line);
}
