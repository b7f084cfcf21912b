import { CliError } from '../errors.ts';
import type { Interrupts } from './contract.ts';

/**
 * Aborts on the second Ctrl-C, and on SIGTERM and SIGHUP: gpucloud then leaves, and waits for no
 * reader.
 */
export function leavingOf({ first, second }: Interrupts): AbortSignal {
  const leaving = new AbortController();
  const unlessCtrlC = () => {
    const { reason } = first;
    const isCtrlC = reason instanceof CliError && reason.failure === 'interrupted';
    if (!isCtrlC) leaving.abort(reason);
  };
  if (first.aborted) unlessCtrlC();
  else first.addEventListener('abort', unlessCtrlC, { once: true });
  return AbortSignal.any([leaving.signal, second]);
}
