import { CliError } from '../errors.ts';
import type { Start } from './keyring.ts';

/** Milliseconds: somebody may have to type a passphrase or to touch a token. */
const PATIENCE = 60_000;

/** Far more than any key. */
const MOST = 64 * 1024;

/**
 * Runs the command of a password manager, and answers the first line that it prints: `pass` and its
 * like keep notes in those below. It has the terminal for its own questions, and what it says on
 * stderr goes to `complain`; what it prints is never repeated.
 *
 * Throws CliError('authentication').
 */
export async function runKeyCommand(
  argv: readonly string[],
  whose: string,
  start: Start,
  complain: (text: string) => void,
): Promise<string> {
  const [file = '', ...args] = argv;
  let printed = '';
  const running = await start({
    file,
    args,
    timeout: PATIENCE,
    hear: (text, from) => {
      if (from === 'stderr') complain(text);
      else if (printed.length <= MOST) printed += text;
    },
  });
  const code = await running.ended.catch((error: unknown) => {
    const why = error instanceof Error && 'code' in error ? error.code : undefined;
    throw failed(
      whose,
      why === 'ENOENT' ? `there is no program "${file}" on PATH` : `it can't be started (${why})`,
    );
  });
  if (code !== 0) {
    throw failed(
      whose,
      code === 143 ? 'it did not end within 60 s' : `it ended with exit code ${code}`,
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
