import type { CallOptions } from '../api/index.ts';
import type { Context } from '../context.ts';
import { isInterrupt } from '../errors.ts';

interface Creation {
  /** As "the drive datasets". */
  readonly what: string;
  /** Whether it costs money from its creation on. */
  readonly bills: boolean;
}

/**
 * Sends a POST that must not be sent twice. Ctrl-C before it leaves creates nothing. Once it has left,
 * the first Ctrl-C waits for the response, and the second ends with an unknown outcome.
 */
export async function sendOnce<T>(
  { what, bills }: Creation,
  { interrupts: { first, second }, err }: Pick<Context, 'interrupts' | 'err'>,
  send: (options: CallOptions) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  let sent = false;
  const onFirst = () => {
    if (!sent) stop.abort(first.reason);
    else if (!second.aborted) {
      err.warn(
        `Waiting for the response: ${what} may already exist${bills ? ' and be billing' : ''}. Interrupt again to stop waiting; its outcome stays unknown.`,
      );
    }
  };
  const onSecond = () => stop.abort(second.reason);
  first.addEventListener('abort', onFirst, { once: true });
  second.addEventListener('abort', onSecond, { once: true });
  if (first.aborted) onFirst();
  try {
    return await send({
      signal: stop.signal,
      onSending() {
        // Throwing here keeps the request from leaving.
        stop.signal.throwIfAborted();
        sent = true;
      },
    });
  } catch (error) {
    if (sent || !isInterrupt(error)) throw error;
    throw error.with(`${error.message} Nothing was sent, so nothing was created.`);
  } finally {
    first.removeEventListener('abort', onFirst);
    second.removeEventListener('abort', onSecond);
  }
}
