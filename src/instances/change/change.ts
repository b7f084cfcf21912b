import { sentence } from '../../api/errors.ts';
import type { Api, StatusChange } from '../../api/index.ts';
import { AT_ONCE, createGate, type Gate } from '../../concurrency.ts';
import type { Context } from '../../context.ts';
import { CliError, ensureCliError, isInterrupt, SeveralErrors, throwAll } from '../../errors.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { retryChange } from '../../retry-change.ts';
import { typedName } from '../../rules/names.ts';
import { leadsTo, mayBill } from '../../rules/statuses.ts';
import type { WaitTimes } from '../../watch/flags.ts';
import { BRIEFLY, instanceIn, type Reading, readInstance } from '../read.ts';
import { runPreflight, titled } from '../rent/preflight.ts';
import { explainStart } from '../rent/refusal.ts';
import { findEach, type Target } from '../resolve.ts';
import { nextStep } from '../status.ts';
import { waitForEach } from '../waiting.ts';
import { type Ending, endNamed, noteAlready, stillThere } from './ending.ts';
import { attempt, billText, type Changed, type Outcome, outcomeOf } from './outcome.ts';

/** A status change that the service makes on request (API document: start, stop, terminate). */
export interface Change {
  readonly verb: 'start' | 'stop' | 'terminate';
  /** Completes "NAME was not …". */
  readonly done: string;
  /** Status after the change. */
  readonly goal: 'ACTIVE' | 'STOPPED' | 'TERMINATED';
  /** Runs before the first request, to ask or to note the price. */
  before?(targets: readonly Target[], context: Context): Promise<void>;
  /** Called after the service accepted a request. */
  onAccepted?(id: string): void;
  /** Called if the instance already had the status; prints a note. */
  onAlready?(id: string): void;
}

/**
 * Changes several instances. Sends all requests before waiting for any, since each instance bills
 * until its request. A failure doesn't stop the others; `failure` combines them. `until` is the
 * status to wait for, or `ssh`.
 */
export async function changeEach(
  change: Change,
  typed: readonly string[],
  { until, times }: { readonly until: string | undefined; readonly times: WaitTimes },
  context: Context,
): Promise<Outcome> {
  let targets = [...new Set(typed)].map((text): Target => ({ id: text, name: text }));
  let missing: CliError[] = [];
  const api = await runPreflight(
    context,
    (interrupt) => noneSent(interrupt, targets, change),
    async () => {
      ({ targets, missing } = await findEach(typed, context, { changes: change.verb }));
      if (targets.length === 0) throwAll(missing);
      await change.before?.(targets, context);
      return context.api();
    },
  );
  const waits = until !== undefined;
  const gate = createGate(AT_ONCE);
  const sent = await Promise.all(
    targets.map((target) =>
      attempt(target, () =>
        change.verb === 'terminate'
          ? terminateOne(change, target, { gate, waits }, context)
          : gate(() => changeOne(change, target, { api, waits }, context)),
      ),
    ),
  );
  const outcomes = until === undefined ? sent : await waitForEach(sent, until, times, context);
  return outcomeOf([...outcomes, ...missing], targets);
}

async function terminateOne(
  change: Change,
  target: Target,
  { gate, waits }: { readonly gate: Gate; readonly waits: boolean },
  context: Context,
): Promise<Changed> {
  const { id, name, ends_at } = target;
  let ending: Ending;
  try {
    ending = await endNamed(target, gate, context);
  } catch (error) {
    throw isInterrupt(error) ? notSent(error, target, change) : error;
  }
  if (ending.kind !== 'ended') throw ending.error;
  const { status, isAlready, instance } = ending;
  noteAlready(ending, target, waits, context);
  if (!isAlready) change.onAccepted?.(id);
  else if (status === change.goal) change.onAlready?.(id);
  return { id, name, status, ends_at, ...(isAlready ? { paid_until: instance?.paid_until } : {}) };
}

interface Sending {
  readonly api: Api;
  /** Whether the command waits for the status afterwards. */
  readonly waits: boolean;
}

/**
 * Starts or stops one instance. Succeeds without `onAccepted` if the instance already has the goal
 * status or is changing to it.
 */
async function changeOne(
  change: Change,
  target: Target,
  { api, waits }: Sending,
  context: Context,
): Promise<Changed> {
  let sent = false;
  const onSending = () => {
    sent = true;
  };
  try {
    const answer =
      change.verb === 'start'
        ? await startOnce(target, api, onSending, context)
        : await stopOnce(target, api, onSending, context);
    const status = await onTheWay(change, target, answer.status, api);
    change.onAccepted?.(target.id);
    const { id, name, ends_at } = target;
    return { name, ends_at, ...answer, id, status };
  } catch (error) {
    ensureCliError(error);
    if (!sent && isInterrupt(error)) throw notSent(error, target, change);
    if (change.verb === 'start') {
      const explained = await explainStart(target, error, api);
      throw explained === error ? stillThere(error, target) : explained;
    }
    if (error.httpStatus === 400 || error.httpStatus === 409) {
      return alreadyThere(target, change, error, { api, waits }, context);
    }
    throw stillThere(error, target);
  }
}

function stopOnce(
  { id }: Target,
  api: Api,
  onSending: () => void,
  context: Context,
): Promise<StatusChange> {
  return retryChange<StatusChange>(
    {
      send: () => api.instances.stop(id, { onSending }),
      async read() {
        const { status } = instanceIn(await readInstance(id, api, BRIEFLY));
        return { shown: leadsTo('STOPPED', status) ? { status } : undefined, status };
      },
    },
    context,
  );
}

/**
 * Sends a start, and never a second one, since an accepted start bills. After an unknown outcome it
 * reads the state. A 500 means that the start failed and was refunded (API document: Errors).
 */
async function startOnce(
  { id, name }: Target,
  api: Api,
  onSending: () => void,
  { interrupts: { second: signal } }: Context,
): Promise<StatusChange> {
  try {
    // An accepted start may bill, so only the second Ctrl-C stops waiting for the response.
    return await api.instances.start(id, { signal, onSending });
  } catch (fault) {
    ensureCliError(fault);
    if (fault.failure !== 'outcomeUnknown') throw fault;
    let reading: Reading;
    try {
      reading = await readInstance(id, api, { ...BRIEFLY, signal });
    } catch (error) {
      ensureCliError(error);
      throw fault;
    }
    if (reading.kind !== 'there') throw fault;
    const { status, paid_until } = reading.instance;
    const text = `Its status is ${status}.`;
    const { cause, httpStatus } = fault;
    if (httpStatus === 500 && cause instanceof CliError) {
      // Only a STOPPED instance can be started (API document: Errors).
      const details = leadsTo('STOPPED', status)
        ? {}
        : { retryable: false, hint: nextStep(status, typedName(name, id)) };
      throw cause.with(
        `${sentence(cause.message)} ${text} According to the API document, the service refunds the reserved funds.`,
        { mayBeBilling: mayBill(status), ...details },
      );
    }
    if (!leadsTo('ACTIVE', status)) {
      throw fault.with(`${sentence(fault.message)} ${text}`);
    }
    return { status, paid_until };
  }
}

/**
 * Checks the status in the response. Reads the instance once if the status is unexpected, since the
 * service may return the status from before the request.
 */
async function onTheWay(
  { verb, goal, done }: Change,
  { id, name }: Target,
  answered: string,
  api: Api,
): Promise<string> {
  if (leadsTo(goal, answered)) return answered;
  const reading = await readInstance(id, api, BRIEFLY);
  const status = reading.kind === 'there' ? reading.instance.status : answered;
  if (leadsTo(goal, status)) return status;
  throw new CliError(
    'otherEnd',
    `The service accepted the request, but ${titled({ id, name })} was not ${done}: its status is ${status}.`,
    {
      resource: id,
      mayBeBilling: mayBill(status),
      hint:
        verb === 'start'
          ? nextStep(status, typedName(name, id))
          : `try again: ${gpucloud('instances', verb, typedName(name, id))}`,
    },
  );
}

/**
 * Treats a refused stop as success if the instance already has the status, so that
 * scripts can repeat it. Sends no second request.
 *
 * @throws the refusal if the instance has another status or can't be read.
 */
async function alreadyThere(
  { id, name, ends_at }: Target,
  { goal, onAlready }: Change,
  refusal: CliError,
  { api, waits }: Sending,
  context: Context,
): Promise<Changed> {
  const reading = await readInstance(id, api, BRIEFLY);
  if (reading.kind !== 'there') throw refusal.with(refusal.message, { mayBeBilling: true });
  const { status, paid_until } = reading.instance;
  if (!leadsTo(goal, status)) {
    const billing = mayBill(status);
    throw refusal.with(
      `${sentence(refusal.message)} Its status is ${status}. ${billText(status)}`,
      {
        mayBeBilling: billing,
        hint: afterRefusal(status, typedName(name, id)),
      },
    );
  }
  if (status === goal || waits) {
    context.err.note(`${name} is already ${status}.`);
    if (status === goal) onAlready?.(id);
  } else {
    context.err.warn(
      'may_be_billing',
      `${name} is already ${status}, but not yet ${goal}. It may still be billing. To wait: ${gpucloud('instances', 'wait', typedName(name, id), '--for', goal.toLowerCase())}`,
    );
  }
  return { id, name, status, paid_until, ends_at };
}

/** Returns the hint after a refused stop, by the status read afterwards. */
function afterRefusal(status: string, instance: string): string {
  if (status === 'ACTIVE') {
    return `try again later: ${gpucloud('instances', 'stop', instance)}; see what happened: ${gpucloud('instances', 'events', instance)}`;
  }
  if (!mayBill(status)) return `see its status: ${gpucloud('instances', 'get', instance)}`;
  return `only an ACTIVE instance can be stopped; ${nextStep(status, instance)}; or terminate it: ${gpucloud('instances', 'terminate', instance)}`;
}

function notSent(interrupt: CliError, target: Target, { done }: Pick<Change, 'done'>): CliError {
  return interrupt.with(
    `${interrupt.message} ${titled(target)} was not ${done}: nothing was sent.`,
    {
      resource: target.id,
      mayBeBilling: true,
      hint: gpucloud('instances', 'get', typedName(target.name, target.id)),
    },
  );
}

/** Returns one line for people, and one error per instance for scripts. */
function noneSent(interrupt: CliError, targets: readonly Target[], change: Change): CliError {
  const [first = interrupt, ...others] = targets.map((target) =>
    notSent(interrupt, target, change),
  );
  if (others.length === 0) return first;
  const names = targets.map((target) => titled(target)).join(', ');
  return new SeveralErrors(
    [first, ...others],
    interrupt.with(`${interrupt.message} Not ${change.done}: ${names}. Nothing was sent.`, {
      hint: gpucloud('instances', 'list'),
    }),
  );
}
