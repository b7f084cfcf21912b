import type { CallOptions } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError, isInterrupt, unforeseen } from '../errors.ts';

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
  {
    interrupts: { first, second },
    err,
  }: Pick<Context, 'interrupts'> & { err: Pick<Context['err'], 'warn'> },
  send: (options: CallOptions) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  let sent = false;
  const onFirst = () => {
    if (!sent) stop.abort(first.reason);
    else if (!second.aborted) {
      err.warn(
        'outcome_unknown',
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

interface Created {
  /** As "The machine". */
  readonly what: string;
  readonly id: string;
  /** How to end what it costs, where that can be done. */
  readonly remedy?: string;
}

/**
 * Writes the result of a command that has made something at the service, which costs money from then
 * on. Where that fails (a full disk behind stdout, a signal, a fault of ours), the error carries the
 * id, since it may be the only thing that does.
 *
 * @throws CliError of the same kind, with `resource` set to the id.
 */
export async function writeCreated(
  { what, id, remedy }: Created,
  write: () => Promise<void>,
): Promise<void> {
  try {
    await write();
  } catch (thrown) {
    const error = thrown instanceof CliError ? thrown : unforeseen(thrown);
    // What is the matter with the output is told as the end of a sentence.
    const link = error.failure === 'storage' ? ', but' : '.';
    throw error.with(`${what} ${id} was created${link} ${error.message}`, {
      resource: id,
      mayBeBilling: true,
      hint: error.hint ?? remedy,
    });
  }
}

/**
 * Writes the secret of a new API key, which no other response holds.
 *
 * @throws CliError that names the key if the secret could not be written, a closed pipe included.
 */
export async function writeSecret(
  { label, id }: { readonly label: string; readonly id: string | undefined },
  { out }: Pick<Context, 'out'>,
  write: () => Promise<void>,
): Promise<void> {
  const lost = `The API key ${label} was created, but its secret could not be printed and is lost`;
  const details = {
    resource: id,
    hint: 'the key itself stays; create another one: gpucloud api-keys create NAME',
  };
  try {
    await write();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw error.with(`${lost}: ${error.message}.`, details);
  }
  if (out.unread) throw new CliError('storage', `${lost}: nobody reads stdout.`, details);
}

/** Refuses to create a key whose secret, which is shown once, nobody could read. */
export function refuseLostSecret({ host }: Context, hint: string): void {
  if (!host.isStdoutNull?.()) return;
  throw new CliError(
    'storage',
    'stdout is closed or /dev/null, so the secret would be lost. No key was created.',
    { hint },
  );
}
