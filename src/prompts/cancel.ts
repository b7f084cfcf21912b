import type { Readable } from 'node:stream';
import { isatty } from 'node:tty';
import { CliError } from '../errors.ts';

/** Returns the error of a cancelled question; a signal's own reason takes precedence. */
export function cancelled(reason: unknown): CliError {
  if (reason instanceof CliError) return reason;
  return new CliError('interrupted', 'Cancelled.');
}

/**
 * Calls `ask`, which asks a question on stdin. If stdin closes or `signal` aborts before the reply,
 * aborts the controller passed to `ask`.
 */
export async function untilCancelled<T>(
  stdin: Readable,
  signal: AbortSignal | undefined,
  ask: (gone: AbortController) => Promise<T>,
): Promise<T> {
  if (signal?.aborted) throw cancelled(signal.reason);
  if (stdin.readableEnded || stdin.destroyed) throw cancelled(undefined);
  const gone = new AbortController();
  const leave = () => gone.abort(signal?.aborted ? signal.reason : closing(stdin));
  stdin.on('end', leave).on('close', leave);
  signal?.addEventListener('abort', leave, { once: true });
  try {
    return await ask(gone);
  } finally {
    stdin.off('end', leave).off('close', leave);
    signal?.removeEventListener('abort', leave);
  }
}

/**
 * Returns why stdin ended. A closed terminal ends it, and its signal may arrive later. Returns
 * undefined for Ctrl-D and for a program's own streams.
 */
function closing(stdin: Readable & { readonly fd?: number }) {
  const isClosed = stdin.fd !== undefined && !isatty(stdin.fd);
  return isClosed ? new CliError('hungUp', 'The terminal closed.') : undefined;
}
