import { rateLimited, sentence } from './api/errors.ts';
import { DEFAULT_TIMEOUT_MS } from './context/service.ts';
import type { Context } from './context.ts';
import { CliError, ensureCliError, isInterrupt } from './errors.ts';

/** Milliseconds before the second request, unless the service asks for a pause. */
const PAUSE = 500;

/** Returns the longest pause that a command waits if the service asks for it, in milliseconds. */
export function longestPause({ flags }: Pick<Context, 'flags'>): number {
  return flags.timeout ?? DEFAULT_TIMEOUT_MS;
}

/**
 * Returns the service's refusal behind an unknown outcome with status 5xx: by the API document, the
 * service has rolled the change back. Confirm it by a read.
 */
export function rolledBack({ failure, httpStatus = 0, cause }: CliError): CliError | undefined {
  const isServerError = failure === 'outcomeUnknown' && httpStatus >= 500;
  return isServerError && cause instanceof CliError ? cause : undefined;
}

interface RepeatableChange<T> {
  send(): Promise<T>;
  read(): Promise<State<T>>;
}

interface State<T> {
  /** The result, if the state shows the effect of the change. */
  readonly shown: T | undefined;
  /** The current status, for the error. */
  readonly status?: string | undefined;
}

/**
 * Sends a change that can be repeated. After an unknown outcome it reads the state: if that shows
 * the effect, the change is done. Otherwise, and after a 429, it sends the request once more.
 */
export async function retryChange<T>(
  { send, read }: RepeatableChange<T>,
  context: Pick<Context, 'clock' | 'flags' | 'signal'>,
): Promise<T> {
  const stateNow = () =>
    read().catch((error: unknown) => {
      ensureCliError(error);
      return undefined;
    });
  const { clock, signal } = context;
  const first = await attempt(send);
  if ('result' in first) return first.result;
  const { fault } = first;
  const isInDoubt = fault.failure === 'outcomeUnknown';
  if (!isInDoubt && fault.failure !== 'rateLimited') throw fault;

  const longest = longestPause(context);
  const pause = fault.retryAfterMs ?? Math.min(clock.random() * PAUSE, longest);
  const isTooLong = pause > longest;
  if (isTooLong && !isInDoubt) throw fault;
  if (!isTooLong) {
    await clock.sleep(pause, signal).catch((interrupt: unknown) => {
      throw isInDoubt ? fault : interrupt;
    });
  }
  if (isInDoubt) {
    const before = await stateNow();
    if (before === undefined) throw fault;
    if (before.shown !== undefined) return before.shown;
    if (isTooLong) throw rateLimited(Number(fault.httpStatus), pause);
  }

  const second = await attempt(send);
  if ('result' in second) return second.result;
  if (!isInDoubt && second.fault.failure !== 'outcomeUnknown') throw second.fault;
  // Reads the state again: the refusal may be an effect of the first request.
  const after = await stateNow();
  if (after?.shown !== undefined) return after.shown;
  const isLeft = second.fault.failure === 'unreachable' || isInterrupt(second.fault);
  const last = isLeft ? fault : second.fault;
  if (after === undefined || last.failure !== 'outcomeUnknown') throw last;
  const { status } = after;
  const error = rolledBack(last) ?? last;
  const { mayBeBilling } = last;
  throw error.with(
    `${sentence(error.message)}${status === undefined ? '' : ` Its status is ${status}.`}`,
    { mayBeBilling, retryable: true },
  );
}

async function attempt<T>(
  send: () => Promise<T>,
): Promise<{ readonly result: T } | { readonly fault: CliError }> {
  try {
    return { result: await send() };
  } catch (error) {
    ensureCliError(error);
    return { fault: error };
  }
}
