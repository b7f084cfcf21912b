import { rateLimited, sentence } from '../../api/errors.ts';
import type { Api, Instance } from '../../api/index.ts';
import { AT_ONCE, createGate, type Gate } from '../../concurrency.ts';
import type { Context } from '../../context.ts';
import {
  asCliError,
  CliError,
  doubt,
  ensureCliError,
  isInterrupt,
  MAY_BILL,
} from '../../errors.ts';
import type { Journal } from '../../journal/index.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { inSeconds } from '../../output/time.ts';
import { longestPause, rolledBack } from '../../retry-change.ts';
import { typedName } from '../../rules/names.ts';
import { leadsTo, mayBill } from '../../rules/statuses.ts';
import { BRIEFLY, isGone, type Reading, readInstance } from '../read.ts';
import { titled } from '../rent/preflight.ts';
import type { Target } from '../resolve.ts';
import { waitFor } from '../waiting.ts';
import { billText } from './outcome.ts';

/** Whether an instance has ended. Print, store and report only `ended` as an end. */
export type Ending = Ended | Refused | Uncertain;

/** The service terminates the instance or has terminated it. */
export interface Ended {
  readonly kind: 'ended';
  readonly status: string;
  /** Undefined if the service no longer finds it. */
  readonly instance: Instance | undefined;
  /** Whether the instance had ended before the first request. */
  readonly isAlready: boolean;
}

/** The service certainly did nothing, so the instance is unchanged. */
interface Refused {
  readonly kind: 'refused';
  readonly error: CliError;
}

/** The instance may have ended or not. The error is `outcomeUnknown`. */
export interface Uncertain {
  readonly kind: 'uncertain';
  readonly error: CliError;
}

/**
 * Pauses before further attempts, in milliseconds. The service rolls a failed termination back "so
 * the call can be repeated" (API document: States and transitions).
 */
const PAUSES = [2_000, 10_000, 30_000];

interface Caller {
  readonly signal: AbortSignal;
  readonly err: Pick<Context['err'], 'note'>;
  /** Limits concurrent requests. */
  readonly gate?: Gate;
  /** Runs one attempt. Returns undefined to give up, since the instance is no longer to end. */
  around?(attempt: () => Promise<Tried>): Promise<Tried | undefined>;
}

/** What this termination has sent so far. */
interface Sent {
  isAny: boolean;
  /** Whether a request was accepted or in doubt, so that a 404 means that the instance ended. */
  isEffective: boolean;
  /** Whether a request may take effect later. */
  isOpen: boolean;
  /** Whether an accepted request was not read back yet. */
  isUnread: boolean;
}

type Tried = Ending | Again;

/** The instance has not ended, and another attempt may succeed. */
interface Again {
  readonly kind: 'again';
  readonly why: CliError;
  /** The error if the service certainly did nothing. */
  readonly refusal?: CliError;
  /** Whether further attempts are useless. */
  readonly isFinal?: boolean;
}

/**
 * Terminates one instance. Sends the request and reads the instance back, up to four times, until
 * the instance is TERMINATING, TERMINATED or gone. Throws an interrupt only if nothing was sent.
 */
async function end(
  target: Target,
  context: Pick<Context, 'api' | 'clock' | 'flags'>,
  { signal, err, gate = (work) => work(), around = (attempt) => attempt() }: Caller,
): Promise<Ending | undefined> {
  const api = await context.api();
  const sent: Sent = { isAny: false, isEffective: false, isOpen: false, isUnread: false };
  for (let attempt = 0; ; attempt += 1) {
    const pause = PAUSES[attempt];
    const tried = await around(() => tryOnce(target, sent, gate, api));
    if (tried?.kind !== 'again') return tried;
    const { retryAfterMs = 0 } = tried.why;
    const isTooLong = retryAfterMs > longestPause(context);
    if (pause === undefined || tried.isFinal === true || isTooLong) {
      return givenUp(target, tried, sent, isTooLong);
    }
    const wait = Math.max(pause, retryAfterMs);
    err.note(`${sentence(tried.why.message)} Trying again in ${inSeconds(wait)}.`);
    try {
      await context.clock.sleep(wait, signal);
    } catch (error) {
      ensureCliError(error);
      if (!sent.isAny) throw error;
      return uncertain(target, error);
    }
  }
}

/** Passes the gate twice, so that the requests to all instances come before the reads. */
async function tryOnce(target: Target, sent: Sent, gate: Gate, api: Api): Promise<Tried> {
  let fault: CliError | undefined;
  // An accepted request is only read again, unless the instance turns out to go on.
  if (!sent.isUnread) {
    fault = await gate(() => sendOnce(target, sent, api));
    if (fault !== undefined) {
      if (isInterrupt(fault)) {
        if (sent.isAny) return uncertain(target, fault);
        throw fault;
      }
      switch (fault.failure) {
        case 'authentication':
          return refused(fault, target);
        case 'notFound':
          if (!sent.isEffective) return refused(fault, target);
          if (isGone(fault)) return gone();
          break;
        case 'unreachable':
        case 'rateLimited':
          return { kind: 'again', why: fault, refusal: stillThere(fault, target) };
        default:
      }
    }
  }
  const reading = await gate(() => readBack(target, api));
  if (reading.kind === 'unread') {
    const why = fault ?? unconfirmed(reading.fault);
    if (isInterrupt(reading.fault)) return uncertain(target, why);
    return { kind: 'again', why, isFinal: reading.fault.failure === 'authentication' };
  }
  sent.isUnread = false;
  if (reading.kind === 'gone') {
    if (fault === undefined || sent.isEffective) return gone();
    return { kind: 'again', why: fault, refusal: stillThere(fault, target) };
  }
  const { instance } = reading;
  const { status } = instance;
  if (leadsTo('TERMINATED', status)) {
    return { kind: 'ended', status, instance, isAlready: !sent.isEffective };
  }
  if (fault === undefined) {
    const message = `The service accepted the request, but its status is ${status}.`;
    return { kind: 'again', why: new CliError('outcomeUnknown', message) };
  }
  const refusal = fault.failure === 'outcomeUnknown' ? rolledBack(fault) : fault;
  const cause = refusal ?? fault;
  const why = cause.with(`${sentence(cause.message)} Its status is ${status}.`);
  if (refusal === undefined) return { kind: 'again', why };
  return { kind: 'again', why, refusal: goesOn(refusal, status, target) };
}

/** Sends the request. Returns its error; without one, the service accepted it. */
async function sendOnce({ id }: Target, sent: Sent, api: Api): Promise<CliError | undefined> {
  try {
    const { status } = await api.instances.terminate(id, {
      onSending() {
        sent.isAny = true;
      },
    });
    sent.isEffective = true;
    sent.isOpen = true;
    sent.isUnread = leadsTo('TERMINATED', status);
    return undefined;
  } catch (error) {
    ensureCliError(error);
    if (error.failure === 'outcomeUnknown') {
      sent.isEffective = true;
      sent.isOpen ||= rolledBack(error) === undefined;
    }
    return error;
  }
}

/** Returns also a refused key and an interrupt as unread, since the request was sent. */
async function readBack({ id }: Target, api: Api): Promise<Reading> {
  try {
    return await readInstance(id, api, BRIEFLY);
  } catch (fault) {
    ensureCliError(fault);
    return { kind: 'unread', fault };
  }
}

/** The service certainly did nothing, and another attempt would not help. */
function refused(why: CliError, target: Target): Again {
  return { kind: 'again', why, refusal: stillThere(why, target), isFinal: true };
}

function unconfirmed(fault: CliError): CliError {
  return fault.with(`The service accepted the request, but no read confirmed it. ${fault.message}`);
}

function gone(): Ended {
  return { kind: 'ended', status: 'TERMINATED', instance: undefined, isAlready: false };
}

function givenUp(target: Target, last: Again, sent: Sent, isTooLong: boolean): Ending {
  const { httpStatus, retryAfterMs, message } = last.why;
  const limit =
    isTooLong && httpStatus !== undefined ? rateLimited(httpStatus, retryAfterMs) : undefined;
  if (sent.isOpen || last.refusal === undefined) {
    const cause = new CliError('outcomeUnknown', limit?.message ?? message, { cause: last.why });
    return uncertain(target, cause);
  }
  return { kind: 'refused', error: limit ? stillThere(limit, target) : last.refusal };
}

/** Adds the status that the instance still has after a refusal. */
function goesOn(refusal: CliError, status: string, { id, name }: Target): CliError {
  const typed = typedName(name, id);
  return refusal.with(`${sentence(refusal.message)} Its status is ${status}. ${billText(status)}`, {
    resource: id,
    mayBeBilling: mayBill(status),
    hint: `try again later: ${gpucloud('instances', 'terminate', typed)}; see what happened: ${gpucloud('instances', 'events', typed)}`,
  });
}

/** Assumes the last known state after a failed change, so the instance may be billing. */
export function stillThere(error: CliError, { id, last }: Target): CliError {
  const isNowhere = last === undefined && error.failure === 'notFound';
  const mayBeBilling = error.mayBeBilling || (mayBill(last) && !isNowhere);
  return error.with(error.message, { resource: id, mayBeBilling });
}

function uncertain(target: Target, cause: CliError): Uncertain {
  const { failure, message, ...details } = notEnded(target, cause);
  return { kind: 'uncertain', error: new EndingTried(failure, message, { ...details, cause }) };
}

function notEnded(target: Pick<Target, 'id' | 'name'>, cause: CliError): CliError {
  const { id, name } = target;
  const message = `Could not terminate ${titled(target)}: ${sentence(cause.message)} ${MAY_BILL}`;
  const hint = gpucloud('instances', 'terminate', typedName(name, id));
  return doubt(message, { resource: id, retryable: true, hint, cause });
}

class EndingTried extends CliError {}

/** Whether an error reports a failed termination, so that another one at once is useless. */
export function hasTriedToEnd(error: unknown): boolean {
  if (!(error instanceof CliError)) return false;
  return error instanceof EndingTried || hasTriedToEnd(error.cause);
}

/** Notes that an instance had ended before. `isAwaited`: the caller needs no later status. */
export function noteAlready(
  { status, isAlready }: Ended,
  { id, name }: Target,
  isAwaited: boolean,
  { err }: Pick<Context, 'err'>,
): void {
  if (!isAlready) return;
  if (status === 'TERMINATED' || isAwaited) {
    err.note(`${name} is already ${status}.`);
    return;
  }
  err.warn(
    'may_be_billing',
    `${name} is already ${status}, but not yet TERMINATED. It may still be billing. To wait: ${gpucloud('instances', 'wait', typedName(name, id), '--for', 'terminated')}`,
  );
}

/** Terminates an instance that the user named. Ctrl-C stops it: throws if nothing was sent. */
export async function endNamed(target: Target, gate: Gate, context: Context): Promise<Ending> {
  const { signal, err } = context;
  const ending = await end(target, context, { signal, err, gate });
  if (ending === undefined) throw new Error('nothing withdraws this termination');
  return ending;
}

/** Terminates one instance as {@link endEach} does. */
export async function endOne(
  target: Target,
  context: Context,
  gate?: Gate,
): Promise<Ended | Uncertain> {
  const [ending] = await endEach([target], context, gate);
  if (ending === undefined) throw new Error('each instance has an ending');
  return ending;
}

/**
 * Terminates instances that this command rented, a few at a time. Asks nothing, and never throws:
 * one failure stops no other termination. Only the third Ctrl-C leaves the remaining instances. An
 * instance that the service refuses to terminate is `uncertain` too, since it is not what the
 * command promised.
 */
export async function endEach(
  targets: readonly Target[],
  context: Context,
  gate: Gate = createGate(AT_ONCE),
): Promise<(Ended | Uncertain)[]> {
  const leaving = new AbortController();
  const interrupt = new CliError('interrupted', 'Interrupted.');
  let stay: (() => void) | undefined;
  const left = new Promise<void>((resolve) => {
    stay = context.host.onThirdInterrupt?.(() => {
      leaving.abort(interrupt);
      resolve();
    });
  });
  const { signal } = leaving;
  const { err } = context;
  const endIt = async (target: Target, own: Context): Promise<Ended | Uncertain> => {
    try {
      const ending = await end(target, own, { signal, err, gate });
      if (ending === undefined) throw new Error('nothing withdraws this termination');
      if (ending.kind === 'refused') return uncertain(target, ending.error);
      if (ending.kind === 'ended') noteAlready(ending, target, true, context);
      return ending;
    } catch (thrown) {
      return uncertain(target, asCliError(thrown));
    }
  };
  const endings: (Ended | Uncertain)[] = [];
  // Uses a new context, since the first Ctrl-C stopped all requests of the command's context.
  const all = context.shielded((own) =>
    Promise.all(
      targets.map(async (target, at) => {
        endings[at] = await endIt(target, own);
      }),
    ),
  );
  await Promise.race([all, left]);
  stay?.();
  return targets.map((target, at) => endings[at] ?? uncertain(target, interrupt));
}

type Held = Parameters<Parameters<Journal['withDeadline']>[1]>[0];

/**
 * Terminates an instance by its deadline or idle rule. No other process can change them during an
 * attempt. Returns undefined if `isDue` finds that another deadline or rule applies by now. Throws
 * an interrupt only if nothing was sent.
 */
export async function endHeld(
  target: Target,
  isDue: (held: Held) => boolean,
  journal: Journal,
  context: Context,
  gate: Gate = (work) => work(),
): Promise<Ending | undefined> {
  const { signal, err } = context;
  const around = (attempt: () => Promise<Tried>) =>
    gate(() =>
      journal.withDeadline(target.id, async (held) => (isDue(held) ? attempt() : undefined)),
    );
  const ending = await end(target, context, { signal, err, around });
  if (ending?.kind === 'ended') noteAlready(ending, target, false, context);
  return ending;
}

/** Milliseconds. */
const FOR_NAME = { timeout: 2 * 60_000, interval: 2_000 } as const;

/**
 * Waits until a terminated instance frees its name. The API document requires unique names, and a
 * TERMINATING instance may keep its name. Also returns after two minutes, since a taken name is a
 * definite refusal. Throws CliError('outcomeUnknown') if the instance runs again.
 */
export async function nameFree(
  { id, name }: Pick<Target, 'id' | 'name'>,
  context: Context,
): Promise<void> {
  const awaited = { target: { id, name, last: 'TERMINATING' }, until: 'TERMINATED' };
  try {
    await waitFor(awaited, FOR_NAME, context);
  } catch (error) {
    ensureCliError(error);
    const { failure, cause } = error;
    if (failure === 'otherEnd') throw notEnded({ id, name }, asCliError(cause));
  }
}
