import { CliError } from '../errors.ts';
import { errorCode } from '../files/error-code.ts';
import type { Start } from '../programs.ts';

/** In milliseconds: a person may have to type a passphrase or touch a token. */
const PATIENCE = 60_000;

/** In bytes; far more than any key. */
const MOST = 64 * 1024;

/**
 * Runs a password manager's command and returns its first output line; `pass` and others keep notes
 * below it. The command may use the terminal for prompts; its stderr goes to `complain`, its output is
 * never printed. It is ended after a minute.
 *
 * Throws CliError('authentication'), or the reason of `stop`.
 */
export async function runKeyCommand(
  argv: readonly string[],
  whose: string,
  start: Start,
  stop: AbortSignal,
  complain: (text: string) => void,
): Promise<string> {
  const [file = '', ...args] = argv;
  let printed = '';
  const running = await start({
    file,
    args,
    keepsApiKey: true,
    timeout: PATIENCE,
    hear: (text, from) => {
      if (from === 'stderr') complain(text);
      else if (printed.length <= MOST) printed += text;
    },
  });
  const code = await running.ended.catch((error: unknown) => {
    const why = errorCode(error);
    throw failed(
      whose,
      why === 'ENOENT' ? `"${file}" is not on PATH` : `it can't be started (${why})`,
    );
  });
  stop.throwIfAborted();
  if (code !== 0) {
    throw failed(
      whose,
      running.isLate
        ? `it timed out after ${PATIENCE / 1000} s`
        : `it ended with exit code ${code}`,
    );
  }
  const key = (printed.split('\n', 1)[0] ?? '').trim();
  if (key === '') throw failed(whose, 'it printed nothing on its first line');
  return key;
}

function failed(whose: string, what: string): CliError {
  return new CliError('authentication', `The key command of ${whose} returned no key: ${what}.`, {
    hint: 'run it by hand to see why, or store the key elsewhere: gpucloud login --store keyring|file',
  });
}
