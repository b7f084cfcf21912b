import type { Writable } from 'node:stream';

/** The stderr that a spinner needs. */
export type Terminal = Writable & { isTTY?: boolean; columns?: number };

export interface Spinner {
  text(text: string): void;
  /** Takes the spinner away. */
  stop(): void;
}

/** ora spins for ever on a terminal without columns, and writes lines to what is no terminal. */
export function canSpin(
  stream: Terminal,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && (stream.columns ?? 0) > 0 && env.TERM !== 'dumb';
}

/**
 * Loads ora and starts it, unless `ended` is aborted before that.
 * `text` is asked when the spinner starts, since it may change while ora loads.
 */
export async function startSpinner(
  stream: Terminal,
  text: () => string,
  ended: AbortSignal,
): Promise<Spinner | undefined> {
  const { default: ora } = await import('ora');
  if (ended.aborted) return undefined;
  const spinner = ora({
    text: text(),
    stream,
    // ora knows the terminal's own sixteen colours alone, which need not be readable.
    color: false,
    // It has been decided that this is a terminal; ora would ask the process's environment.
    isEnabled: true,
    // A killed process could not show it again.
    hideCursor: false,
    // Otherwise ora swallows Ctrl-C, and an instance that is being rented could not be left.
    discardStdin: false,
  }).start();
  return {
    text(next) {
      spinner.text = next;
    },
    stop: () => void spinner.stop(),
  };
}
