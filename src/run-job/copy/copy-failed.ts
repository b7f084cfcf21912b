import { CliError } from '../../errors.ts';

/**
 * Copying files to or from the instance failed. `reason` is the last line the program printed. A
 * copy may be repeated, unless there is nothing to copy.
 */
export function copyFailed(
  way: 'in' | 'out',
  reason: string,
  { cause, retryable = true }: { readonly cause?: unknown; readonly retryable?: boolean } = {},
): CliError {
  return new CliError('refused', `Could not copy files ${way}: ${reason}`, { cause, retryable });
}

export function reasonOf(code: number, printed: string): string {
  return printed.trim().split('\n').at(-1) || `exit code ${code}`;
}
