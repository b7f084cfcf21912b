import { CliError } from '../../errors.ts';
import { faultOf } from '../../system/error-code.ts';
import { isFull, isOtherHost, SSH_FAILED } from '../remote/failed-ssh.ts';

/**
 * Returns the error for a failed copy to or from the instance. A retry may succeed if the
 * connection failed.
 */
export function copyFailed(
  way: 'in' | 'out',
  reason: string,
  { cause, retryable = false }: { readonly cause?: unknown; readonly retryable?: boolean } = {},
): CliError {
  return new CliError('refused', `Could not copy files ${way}: ${reason}`, { cause, retryable });
}

/** Returns the error for a path on this computer that can't be written. */
export function unwritable(path: string, cause: unknown): CliError {
  return notStored(`${path} can't be written (${faultOf(cause)})`, cause);
}

/** Throws {@link unwritable} if the work fails. */
export function orUnwritable<T>(path: string, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw unwritable(path, error);
  });
}

/**
 * Returns the error for one file that this computer can't store. Other files may still be stored.
 */
export function notStored(reason: string, cause?: unknown): CliError {
  return new CliError('storage', copyFailed('out', reason).message, { cause });
}

export function isNotStored(error: unknown): error is CliError {
  return error instanceof CliError && error.failure === 'storage';
}

/** Returns the error for a copy program that failed with an exit code. */
export function programFailed(way: 'in' | 'out', code: number, printed: string): CliError {
  const lines = printed.trim().split('\n');
  // The first line of tar and rsync names the file. The last line is often a summary.
  const reason =
    lines.find(isFull) ?? lines.find((line) => /^(?:tar|rsync): /.test(line)) ?? lines.at(-1);
  return copyFailed(way, reason || `exit code ${code}`, {
    retryable: CUT.includes(code) && !isOtherHost(printed) && !isFull(printed),
  });
}

/** The exit codes of ssh, and of rsync, after a cut connection. */
const CUT = [SSH_FAILED, 10, 12, 30, 35];
