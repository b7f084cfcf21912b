import { CliError } from '../../errors.ts';
import { errorCode, faultOf } from '../../system/error-code.ts';
import type { Start } from '../../system/programs.ts';

const TIMEOUT = 30_000;

/** Scheduler program output. `code` is undefined if the program is missing. */
export interface Printed {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runTool(
  start: Start,
  [file = '', ...args]: readonly string[],
  say?: string,
): Promise<Printed> {
  const text = { stdout: '', stderr: '' };
  const running = await start({
    file,
    args,
    ...(say === undefined ? {} : { say }),
    timeout: TIMEOUT,
    hear: (part, from) => {
      text[from] += part;
    },
  });
  try {
    return { code: await running.ended, ...text };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { code: undefined, ...text };
    throw failed(file, faultOf(error));
  }
}

/**
 * Runs the scheduler's program. Throws CliError('storage') if it fails, since nothing was
 * scheduled.
 */
export async function mustRun(
  start: Start,
  words: readonly string[],
  say?: string,
): Promise<string> {
  const { code, stdout, stderr } = await runTool(start, words, say);
  if (code === 0) return stdout;
  throw failed(words.join(' '), stderr.trim() || `exit code ${code ?? 'unknown'}`);
}

function failed(words: string, why: string): CliError {
  return new CliError('storage', `"${words}" failed: ${why}`);
}
