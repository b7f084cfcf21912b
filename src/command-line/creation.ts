import type { CallOptions } from '../api/index.ts';
import type { Context } from '../context.ts';
import { asCliError, CliError, isInterrupt } from '../errors.ts';
import { gpucloud } from '../output/shell-line.ts';

interface Creation {
  /** The resource to create, such as "drive datasets". */
  readonly what: string;
  /** Whether the resource bills as soon as it exists. */
  readonly bills: boolean;
}

/**
 * Sends a POST that must not be sent twice. Ctrl-C before it is sent creates nothing. After that,
 * the first Ctrl-C waits for the response, and the second exits with an unknown outcome. The end of
 * an `mcp` session always waits, since it terminates what the session rented.
 */
export async function sendOnce<T>(
  { what, bills }: Creation,
  {
    interrupts: { first, second },
    creating,
    err,
    host: { session },
  }: Pick<Context, 'interrupts' | 'creating' | 'host'> & { err: Pick<Context['err'], 'warn'> },
  send: (options: CallOptions) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  let sent = false;
  const onFirst = () => {
    if (!sent) stop.abort(first.reason);
    else if (!second.aborted && creating.has(what)) {
      err.warn('outcome_unknown', waitingText([...creating], bills, session === undefined));
      // Warns once for all requests in flight.
      creating.clear();
    }
  };
  const onSecond = () => stop.abort(second.reason);
  first.addEventListener('abort', onFirst, { once: true });
  if (session === undefined) second.addEventListener('abort', onSecond, { once: true });
  if (first.aborted) onFirst();
  try {
    return await send({
      signal: stop.signal,
      onSending() {
        // Throwing here prevents the request from being sent.
        stop.signal.throwIfAborted();
        sent = true;
        creating.add(what);
      },
    });
  } catch (error) {
    if (sent || !isInterrupt(error)) throw error;
    throw error.with(`${error.message} Nothing was sent, so nothing was created.`);
  } finally {
    creating.delete(what);
    first.removeEventListener('abort', onFirst);
    second.removeEventListener('abort', onSecond);
  }
}

function waitingText(names: readonly string[], bills: boolean, stops: boolean): string {
  const [responses, its] =
    names.length === 1 ? ['response', 'its outcome stays'] : ['responses', 'their outcomes stay'];
  const again = stops ? ` Interrupt again to stop waiting; ${its} unknown.` : '';
  return `Waiting for the ${responses}: ${names.join(', ')} may already exist${bills ? ' and be billing' : ''}.${again}`;
}

interface Created {
  /** The created resource, such as "The instance". */
  readonly what: string;
  readonly id: string;
  /** Whether `id` lists several IDs. */
  readonly many?: true;
  /** How to stop the billing, if possible. */
  readonly remedy?: string;
}

/**
 * Prints the result of a command that created something billable. If that fails (a full disk, a
 * signal, a bug), the error contains the ID, since it may be the only record.
 *
 * @throws CliError of the same kind, with `resource` set to the ID.
 */
export async function writeCreated(
  { what, id, many, remedy }: Created,
  { host, err }: Pick<Context, 'host' | 'err'>,
  write: () => Promise<void>,
): Promise<void> {
  const created = `${what} ${id} ${many === true ? 'were' : 'was'} created`;
  // Node can't distinguish a closed stdout from /dev/null.
  if (host.isStdoutNull?.()) {
    const reason = 'stdout is closed or /dev/null, so the result is lost';
    err.warn('may_be_billing', `${created}; ${reason}.`);
  }
  try {
    await write();
  } catch (thrown) {
    const error = asCliError(thrown);
    // The storage error's message completes this sentence.
    const link = error.failure === 'storage' ? ', but' : '.';
    throw error.with(`${created}${link} ${error.message}`, {
      resource: id,
      mayBeBilling: true,
      hint: error.hint ?? remedy,
    });
  }
}

/**
 * Prints the secret of a new API key, which no other response contains.
 *
 * @throws CliError that names the key if the secret could not be printed, even if stdout is a
 * closed pipe.
 */
export async function writeSecret(
  { label, id }: { readonly label: string; readonly id: string | undefined },
  { out }: Pick<Context, 'out'>,
  write: () => Promise<void>,
): Promise<void> {
  const lost = `Created API key ${label}, but could not print its secret, which is lost`;
  const details = {
    resource: id,
    hint: `the key still exists; create another one: ${gpucloud('api-keys', 'create', 'NAME')}`,
  };
  try {
    await write();
  } catch (error) {
    const fault = asCliError(error);
    throw fault.with(`${lost}: ${fault.message}.`, details);
  }
  if (out.unread) throw new CliError('storage', `${lost}: stdout is closed.`, details);
}

/** Refuses to create a key if nobody could read its secret: it is shown only once. */
export function refuseLostSecret({ host }: Context, hint: string): void {
  if (!host.isStdoutNull?.()) return;
  throw new CliError(
    'storage',
    'stdout is closed or /dev/null, so the secret would be lost. No key created.',
    { hint },
  );
}
