import { CliError } from '../errors.ts';
import { gpucloud } from '../output/shell-line.ts';
import { faultOf } from '../system/error-code.ts';
import type { Start } from '../system/programs.ts';

/** Callbacks for the output of a background ssh. */
interface Listener {
  /** Called when the session opens: a tunnel then accepts connections. */
  open(): void;
  /** Called with a line for the user: a banner of the instance, or a warning from ssh. */
  say(line: string): void;
  /** Called with a line of ssh's own log. */
  log(line: string): void;
}

/** Enough characters to hold the warning about a changed host key. */
const KEPT = 4_000;

/**
 * Starts an ssh without a terminal. Reads its log to learn when the session opens. Probing the port
 * would open a connection to the program that listens on the instance.
 */
export async function startSsh(argv: readonly string[], start: Start, listener: Partial<Listener>) {
  const [file = 'ssh', ...args] = argv;
  let output = '';
  let rest = '';
  function hear(line: string): void {
    if (line === 'debug1: Entering interactive session.') listener.open?.();
    if (isLog(line)) {
      listener.log?.(line);
    } else if (line.trim() !== '') {
      output = `${output}${line}\n`.slice(-KEPT);
      listener.say?.(line);
    }
  }
  const running = await start({
    file,
    args: ['-v', ...args],
    hear(text) {
      const lines = (rest + text).split(/\r?\n/);
      rest = lines.pop() ?? '';
      for (const line of lines) hear(line);
    },
  });
  return {
    /** ssh's exit code and last output. */
    ended: running.ended.then((code) => {
      hear(rest);
      return { code, output };
    }),
    close: () => running.kill('SIGTERM'),
  };
}

/** Lines that ssh prints only with `-v`. */
function isLog(line: string): boolean {
  return /^(?:debug[123]: |OpenSSH_|Authenticated to |Transferred: |Bytes per second: )/.test(line);
}

/** Why ssh could not sign in. */
export type Trouble = 'hostKey' | 'keys' | 'unreachable';

/** ssh prints these messages in English, regardless of the locale. */
const PATTERNS: readonly (readonly [Trouble, RegExp])[] = [
  ['hostKey', /^(?:Host key verification failed|@ +WARNING: REMOTE HOST IDENTIFICATION)/m],
  ['keys', /Permission denied \(|Too many authentication failures/],
  [
    'unreachable',
    /Connection refused|timed out|No route to host|Network is unreachable|Could not resolve hostname|kex_exchange_identification|Connection (?:reset|closed) by/,
  ],
];

export function troubleIn(output: string): Trouble | undefined {
  return PATTERNS.find(([, pattern]) => pattern.test(output))?.[0];
}

export function notStarted(file: string, error: unknown): CliError {
  const code = faultOf(error);
  return code === 'ENOENT'
    ? new CliError('refused', `${file} is not on PATH: gpucloud connects with OpenSSH.`, {
        hint: `install an OpenSSH client (openssh-client on Debian and Ubuntu, an optional feature on Windows); check it: ${gpucloud('doctor')}`,
        cause: error,
      })
    : new CliError('refused', `Could not start ${file} (${code}).`, { cause: error });
}
