import { CliError } from '../errors.ts';
import { errorCode } from '../files/error-code.ts';
import type { Start } from '../programs.ts';

/** Milliseconds: somebody may have to type a passphrase or to touch a token. */
const PATIENCE = 60_000;

/** Far more than any key. */
const MOST = 64 * 1024;

/**
 * Runs the command of a password manager, and answers the first line that it prints: `pass` and its
 * like keep notes in those below. It has the terminal for its own questions, and what it says on
 * stderr goes to `complain`; what it prints is never repeated. It is ended after a minute.
 *
 * Throws CliError('authentication'), or the reason of `stop`, whatever the command printed by then:
 * whoever waits for a key wants nothing else of it.
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
      why === 'ENOENT' ? `there is no program "${file}" on PATH` : `it can't be started (${why})`,
    );
  });
  stop.throwIfAborted();
  if (code !== 0) {
    throw failed(
      whose,
      running.isLate
        ? `it had not ended after ${PATIENCE / 1000} s, so it was ended`
        : `it ended with exit code ${code}`,
    );
  }
  const key = (printed.split('\n', 1)[0] ?? '').trim();
  if (key === '') throw failed(whose, 'it printed nothing on its first line');
  return key;
}

function failed(whose: string, what: string): CliError {
  return new CliError('authentication', `The key command of ${whose} gave no key: ${what}.`, {
    hint: 'run it by hand to see why; another place for the key: gpucloud login --store keyring|file',
  });
}
