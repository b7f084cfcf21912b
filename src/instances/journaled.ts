import type { Api, CallOptions } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError, type Failure, isInterrupt } from '../errors.ts';
import type { Intent, Outcome, RentalRequest } from '../journal/index.ts';
import { salvage } from '../journal/salvage.ts';
import { intendAlone } from './intend-alone.ts';
import {
  costs,
  madeButNotKept,
  madeButUnclear,
  notBelieved,
  settleHint,
  unknownAfter,
  WHAT,
} from './journaled-errors.ts';

/** The id of what was made stands at the front of an answer; the rest may be of any length. */
const SALVAGED = 64 * 1024;

interface Made {
  readonly id: string;
  readonly name?: string | null | undefined;
}

/**
 * Sends the one request that makes something which must not be lost, with its intent on disk before it
 * and its outcome on disk before anything is printed (design: The journal).
 *
 * Ctrl-C before the first byte goes ends it with nothing made. After that the first Ctrl-C waits for
 * the answer, and the second leaves the outcome unknown.
 *
 * `keep` gets what was made, and the request's name in the journal, once its id is on disk.
 *
 * Throws what the request throws. When the outcome could not be kept, throws CliError('storage')
 * with the id in its message: then the error itself is the only place that still knows it.
 */
export async function journaled<T extends Made>(
  request: RentalRequest,
  context: Context,
  send: (api: Api, options: CallOptions) => Promise<T>,
  keep?: (made: T, uid: string) => Promise<void>,
): Promise<T> {
  const api = await context.api();
  const intent = await intendAlone(request, context);
  try {
    return await sendOnce(intent, request, context, (options) => send(api, options), keep);
  } finally {
    await intent.close();
  }
}

async function sendOnce<T extends Made>(
  intent: Intent,
  request: RentalRequest,
  context: Context,
  send: (options: CallOptions) => Promise<T>,
  keep: ((made: T, uid: string) => Promise<void>) | undefined,
): Promise<T> {
  const { name, operation } = request;
  const what = WHAT[operation];
  const patience = patienceOf(context, `the ${what} ${name}`, costs(operation));
  let made: string | undefined;
  let candidates: readonly string[] = [];
  let doubt: CliError | undefined;

  /** Believes an id, or keeps it as one that may be it. */
  async function take(id: string, answered: string | undefined): Promise<void> {
    const why = await intent.doubt(id, answered);
    if (why === undefined) {
      await note(id);
      return;
    }
    candidates = [id, ...candidates];
    doubt = notBelieved(request, id, why);
  }

  async function note(id: string): Promise<void> {
    made = id;
    try {
      await intent.settle('rented', { id });
    } catch (error) {
      throw error instanceof CliError ? madeButNotKept(what, id, error) : error;
    }
  }

  try {
    const answer = await send({
      signal: patience.signal,
      onSending: patience.onSending,
      async onAnswer({ status, text }) {
        const { id, name: answered, candidates: others } = salvage(text.slice(0, SALVAGED));
        candidates = others;
        if (id === undefined) return;
        if (made === undefined && status >= 200 && status < 300) await take(id, answered);
        else candidates = [id, ...others];
      },
    });
    if (made === undefined && doubt === undefined) {
      await take(answer.id, answer.name ?? undefined);
    }
    if (doubt !== undefined) throw doubt;
    await keep?.(answer, intent.uid);
    return answer;
  } catch (error) {
    if (made !== undefined) {
      const isTold = error instanceof CliError && error.failure === 'storage';
      throw isTold ? error : madeButUnclear(what, made, name, error);
    }
    const outcome = outcomeOf(error, patience.isSent());
    await settleQuietly(intent, outcome, candidates, context);
    throw told(error, outcome, request, context);
  } finally {
    patience.end();
  }
}

interface Patience {
  readonly signal: AbortSignal;
  readonly onSending: () => void;
  isSent(): boolean;
  end(): void;
}

/** Which interrupt ends the call: the first one before the request has left, the second after. */
function patienceOf({ interrupts, err }: Context, what: string, billed: boolean): Patience {
  const stop = new AbortController();
  let sent = false;
  const onFirst = () => {
    if (!sent) stop.abort(interrupts.first.reason);
    // Where the second came first, nobody waits any more.
    if (!sent || interrupts.second.aborted) return;
    err.warn(
      `Waiting for the answer: ${what} may be there already${billed ? ', and billing' : ''}. Interrupted again, gpucloud leaves without it, and the outcome stays unknown.`,
    );
  };
  const onSecond = () => stop.abort(interrupts.second.reason);
  interrupts.first.addEventListener('abort', onFirst, { once: true });
  interrupts.second.addEventListener('abort', onSecond, { once: true });
  if (interrupts.first.aborted) onFirst();
  return {
    signal: stop.signal,
    onSending() {
      // Thrown here, no byte is written.
      stop.signal.throwIfAborted();
      sent = true;
    },
    isSent: () => sent,
    end() {
      interrupts.first.removeEventListener('abort', onFirst);
      interrupts.second.removeEventListener('abort', onSecond);
    },
  };
}

const NEVER_LEFT: readonly Failure[] = ['usage', 'unreachable'];
/** The service has answered, and said no. */
const REFUSED: readonly Failure[] = [
  'refused',
  'notFound',
  'authentication',
  'wrongState',
  'rateLimited',
];

/** What is not certain is unknown, whatever the error calls itself. */
function outcomeOf(error: unknown, sent: boolean): Outcome {
  if (!(error instanceof CliError)) {
    return sent ? 'unknown' : 'not_sent';
  }
  if (!sent) {
    return NEVER_LEFT.includes(error.failure) || isInterrupt(error) ? 'not_sent' : 'unknown';
  }
  const { failure, httpStatus = 0 } = error;
  const isNo = httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408;
  return isNo && REFUSED.includes(failure) ? 'refused' : 'unknown';
}

/** The error of the request goes before that of the journal, which is told beside it. */
async function settleQuietly(
  intent: Intent,
  outcome: Outcome,
  candidates: readonly string[],
  { err }: Context,
): Promise<void> {
  try {
    await intent.settle(outcome, outcome === 'unknown' ? { candidates } : {});
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    // Left without an outcome, the request counts as unknown, which is the careful reading.
    if (outcome !== 'unknown') {
      err.warn(
        `Nothing was made, but that could not be written down, so that gpucloud will call the outcome unknown: ${error.message}`,
      );
    }
  }
}

function told(
  error: unknown,
  outcome: Outcome,
  { name, operation }: RentalRequest,
  context: Context,
): unknown {
  if (!(error instanceof CliError)) {
    // A fault of gpucloud itself, after the request may have left.
    return outcome === 'unknown' ? unknownAfter(error, name, operation) : error;
  }
  if (outcome === 'not_sent' && isInterrupt(error)) {
    return error.with(`${error.message} Nothing was sent, so nothing was created.`);
  }
  const second: unknown = context.interrupts.second.reason;
  if (outcome === 'unknown' && context.interrupts.second.aborted && second instanceof CliError) {
    return new CliError(second.failure, `${second.message} ${error.message}`, {
      mayBeBilling: costs(operation),
      cause: error,
      hint: error.hint ?? settleHint(operation),
      ...(error.resource === undefined ? {} : { resource: error.resource }),
    });
  }
  return error;
}
