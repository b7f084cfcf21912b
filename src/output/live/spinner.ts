import type { Writable } from 'node:stream';

/** The stderr that a spinner needs. */
export type Terminal = Writable & { isTTY?: boolean; columns?: number };

export interface Spinner {
  text: string;
  /** Removes the spinner. */
  stop(): void;
}

/** ora never wraps a line on a terminal without columns, and writes lines to a non-TTY stream. */
export function canSpin(
  stream: Terminal,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && (stream.columns ?? 0) > 0 && env.TERM !== 'dumb';
}

/**
 * Loads ora and starts it, unless `ended` is aborted before. Reads `text` at the start, since it
 * may change while ora loads.
 */
export async function startSpinner(
  stream: Terminal,
  text: () => string,
  ended: AbortSignal,
): Promise<Spinner | undefined> {
  const { default: ora } = await import('ora');
  if (ended.aborted) return undefined;
  return ora({
    text: text(),
    stream,
    // ora only knows the terminal's sixteen colours, which may be unreadable.
    color: false,
    // The caller has checked for a terminal; ora would ask the environment.
    isEnabled: true,
    // A killed process could not show the cursor again.
    hideCursor: false,
    // Otherwise ora swallows Ctrl-C, so nobody could cancel a request.
    discardStdin: false,
  }).start();
}
