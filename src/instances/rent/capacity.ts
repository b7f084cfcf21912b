import type { Instance } from '../../api/index.ts';
import type { Gate } from '../../concurrency.ts';
import type { Context } from '../../context.ts';
import { asCliError, CliError, ensureCliError } from '../../errors.ts';
import type { Attempt } from '../../json-results/instances.ts';
import { failureReason } from '../../output/mask.ts';
import { clockTime } from '../../output/time.ts';
import type { WaitTimes } from '../../watch/flags.ts';
import { endOne, nameFree } from '../change/ending.ts';
import { waitFor } from '../waiting.ts';
import type { Chosen } from './hardware.ts';
import { OverMaxPrice } from './max-price.ts';
import { DriveTaken } from './refusal.ts';

interface Wish {
  readonly name: string;
  readonly offers: readonly Chosen[];
  /** Milliseconds during which to retry refused offers. */
  readonly retryFor: number | undefined;
  /** A status or `ssh`. An instance that reaches ERROR instead is replaced. */
  readonly until: string | undefined;
  readonly times: WaitTimes;
  /** Limits on concurrent requests and reads for several instances. */
  readonly gates?: Gates;
  /** Sends the one request for this offer. */
  rent(offer: Chosen): Promise<Instance>;
  /** Returns the signal that stops the wait for the rented instance; by default the first Ctrl-C. */
  signal?(): AbortSignal | undefined;
}

/** One gate for requests that rent, one for reads while waiting. */
export interface Gates {
  readonly sending: Gate;
  readonly reading: Gate;
}

export interface Obtained {
  readonly instance: Instance;
  /** All attempts. Missing for one offer without a time to retry. */
  readonly attempts?: readonly Attempt[];
  /** Why the wait stopped early. The instance exists. */
  readonly early: CliError | undefined;
}

/** Rents one instance and waits for it, with one request or as {@link rentFirst} does. */
export async function obtain(wish: Wish, context: Context): Promise<Obtained> {
  try {
    return await rentAny(wish, context);
  } catch (error) {
    if (!(error instanceof DriveTaken) || wish.retryFor !== undefined) throw error;
    throw error.with(error.message, { hint: error.retryHint });
  }
}

async function rentAny(wish: Wish, context: Context): Promise<Obtained> {
  const [only, ...others] = wish.offers;
  if (only === undefined || others.length > 0 || wish.retryFor !== undefined) {
    return rentFirst(wish, context);
  }
  const { latest, early } = await waitEarly(await send(only, wish), wish, context);
  return { instance: latest, early };
}

function send(offer: Chosen, { gates, rent }: Wish): Promise<Instance> {
  return gates === undefined ? rent(offer) : gates.sending(() => rent(offer));
}

/**
 * Rents from the first offer that the service accepts, and waits for the instance. At most one
 * instance lives at a time: the next request follows only a definite refusal or a confirmed
 * termination. Throws any other error at once.
 */
export async function rentFirst(wish: Wish, context: Context): Promise<Obtained> {
  const { clock } = context;
  const end = clock.monotonic() + (wish.retryFor ?? 0);
  const attempts: Attempt[] = [];
  let offers = wish.offers;
  let ending: string | undefined;
  for (let round = 0; ; round += 1) {
    let last: CliError | undefined;
    for (const offer of offers) {
      if (ending !== undefined) await nameFree({ id: ending, name: wish.name }, context);
      ensureWanted(context);
      const tried = await tryOne(offer, wish, context);
      attempts.push(tried.attempt);
      if ('instance' in tried) return { ...tried, attempts };
      last = tried.fault;
      ending = tried.ending;
      // Drops the offer, since another attempt would cost the same.
      if (last instanceof OverMaxPrice) offers = offers.filter((one) => one !== offer);
      else
        context.err.warn('attempt', `${offer.known?.name ?? offer.id}: ${tried.attempt.message}`);
      ensureWanted(context);
      if (isForLater(last)) break;
    }
    if (last === undefined) throw new Error('a round has an offer');
    const left = end - clock.monotonic();
    const pause = Math.max(pauseAfter(round, clock.random()), last.retryAfterMs ?? 0);
    if (offers.length === 0 || left <= 0 || (last.retryAfterMs ?? 0) > left) {
      throw noneLeft(last, attempts.length, wish);
    }
    await sleep(Math.min(pause, left), last, wish, context);
  }
}

type Tried = { readonly attempt: Attempt } & (
  | Pick<Obtained, 'instance' | 'early'>
  | {
      readonly fault: CliError;
      /** ID of the terminated instance. */
      readonly ending: string | undefined;
    }
);

/** Tries one offer. Throws errors that rule out another attempt. */
async function tryOne(offer: Chosen, wish: Wish, context: Context): Promise<Tried> {
  const failed = (outcome: Attempt['outcome'], fault: CliError, ending?: string): Tried => {
    const { httpStatus: http_status = null, message } = fault;
    return { attempt: { offer_id: offer.id, outcome, http_status, message }, fault, ending };
  };
  let instance: Instance;
  try {
    instance = await send(offer, wish);
  } catch (error) {
    ensureCliError(error);
    if (!mayTryAnother(error, wish)) throw error;
    if (error instanceof OverMaxPrice) {
      context.err.warn('attempt', error.message);
      return failed('over_max_price', error, error.resource);
    }
    return failed(error.failure === 'unreachable' ? 'unreachable' : 'refused', error);
  }
  const { latest, early } = await waitEarly(instance, wish, context);
  const attempt = {
    offer_id: offer.id,
    outcome: 'created',
    http_status: 201,
    message: null,
  } as const;
  if (early?.failure !== 'otherEnd' || latest.status !== 'ERROR') {
    return { attempt, instance: latest, early };
  }
  const ending = await endOne({ id: latest.id, name: wish.name, last: 'ERROR' }, context);
  if (ending.kind !== 'ended') {
    const { error } = ending;
    const fault = error.with(`${wish.name} reached ERROR. ${error.message}`);
    return { attempt, instance: latest, early: fault };
  }
  const reason = failureReason(latest) ?? 'its status is ERROR';
  const ended = new CliError('otherEnd', `${wish.name} (${latest.id}) failed: ${reason}`, {
    resource: latest.id,
  });
  return failed('error', ended, latest.id);
}

/** Waits if a status is requested. Never throws, since the instance exists. */
export async function waitEarly(
  instance: Instance,
  {
    name,
    until,
    times,
    gates,
    signal,
  }: Pick<Wish, 'name' | 'until' | 'times' | 'gates' | 'signal'>,
  context: Context,
): Promise<{ latest: Instance; early: CliError | undefined }> {
  let latest = instance;
  if (until === undefined) return { latest, early: undefined };
  const onReading = (reading: Instance) => {
    latest = reading;
  };
  const target = { id: instance.id, name };
  try {
    const gate = gates && { gate: gates.reading };
    const stop = signal?.();
    const how = { ...gate, ...(stop === undefined ? {} : { signal: stop }) };
    await waitFor({ target, until, onReading, after: instance.status, ...how }, times, context);
    return { latest, early: undefined };
  } catch (error) {
    return { latest, early: asCliError(error) };
  }
}

/** Refusals that another offer would not avoid. */
const FINAL_CODES: readonly string[] = ['name_taken', 'insufficient_funds', 'authentication'];

/** Whether certainly nothing was rented and another request may succeed. */
export function mayTryAnother(
  error: CliError,
  { retryFor }: Pick<Wish, 'retryFor'> = { retryFor: undefined },
): boolean {
  const { code, httpStatus = 0, request, mayBeBilling } = error;
  if (mayBeBilling) return false;
  if (error instanceof OverMaxPrice) return true;
  if (error instanceof DriveTaken && !error.isPassing) return false;
  if (isForLater(error)) return retryFor !== undefined;
  const isRefusal = httpStatus >= 400;
  // A web page comes from a proxy, so it is not the service's refusal.
  const isOwn = request?.operation === 'POST /instances' && request.obstacle !== 'web page';
  return isRefusal && isOwn && !FINAL_CODES.includes(code);
}

/** Whether only waiting helps, since every offer would fail the same way. */
function isForLater(error: CliError): boolean {
  const { failure } = error;
  if (error instanceof DriveTaken) return error.isPassing;
  return failure === 'rateLimited' || failure === 'unreachable';
}

/**
 * Throws after Ctrl-C, before another request. A request in progress still waits for its response.
 */
function ensureWanted({ signal }: Context): void {
  if (signal.aborted) throw unwanted(signal.reason);
}

function unwanted(reason: unknown): CliError {
  const interrupt = asCliError(reason);
  return interrupt.with(`${interrupt.message} No attempt left an instance running.`);
}

/** Milliseconds: the first pause, and the longest pause before jitter. */
const FIRST_PAUSE = 30_000;
const LONGEST_BASE = 200_000;

/** Returns the pause after a round: 30 to 45 seconds at first, 200 to 300 later. */
function pauseAfter(round: number, random: number): number {
  return Math.min(LONGEST_BASE, FIRST_PAUSE * 1.5 ** round) * (1 + random / 2);
}

/**
 * Says why to wait, after the warnings that show each refusal, and until when. A clock time stays
 * right while the line stands still.
 */
export function waitText(name: string, last: CliError, until: number): string {
  return `${name}: ${waitReason(last)}; trying again at ${clockTime(until)}`;
}

function waitReason(last: CliError): string {
  if (last instanceof DriveTaken) return `the ${last.text}`;
  if (last.failure === 'rateLimited') return 'rate limited';
  return last.failure === 'unreachable' ? 'could not reach the service' : 'no offer available';
}

async function sleep(
  pause: number,
  last: CliError,
  { name }: Wish,
  context: Context,
): Promise<void> {
  const { clock, err, signal } = context;
  const progress = err.progress(waitText(name, last, clock.now() + pause));
  try {
    await clock.sleep(pause, signal);
  } catch (error) {
    throw unwanted(error);
  } finally {
    progress.done();
  }
}

function noneLeft(last: CliError, attempts: number, { retryFor }: Wish): CliError {
  if (attempts === 1) return last;
  return last.with(
    `Could not rent any offer in ${attempts} attempts. Last error: ${last.message}`,
    retryFor === undefined
      ? { hint: 'keep trying with --retry-for 6h, or add another --offer' }
      : {},
  );
}
