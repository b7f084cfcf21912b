import { sentence } from '../api/calls/errors.ts';
import type { Api } from '../api/index.ts';
import { eachBounded } from '../bounded.ts';
import type { Context } from '../context.ts';
import { CliError, isInterrupt, SeveralErrors, throwAll } from '../errors.ts';
import { typedName } from '../rules/names.ts';
import { leadsTo, mayBill } from '../rules/statuses.ts';
import type { WaitTimes } from '../watch/flags.ts';
import { attempt, type Changed, type Outcome, outcomeOf } from './outcome.ts';
import { runPreflight, titled } from './preflight.ts';
import { BRIEFLY, explainStart } from './refusal.ts';
import { findEach, type Target } from './resolve.ts';
import { nextStep } from './status.ts';
import { waitForEach } from './waiting.ts';

/** As many requests at once as is polite to a service whose rate limits are not documented. */
const AT_ONCE = 4;

/** A change of status that the service makes on request (API document: start, stop, terminate). */
export interface Change {
  readonly verb: 'start' | 'stop' | 'terminate';
  /** Completes "NAME was not …". */
  readonly done: string;
  /** The status that it leads to. */
  readonly goal: 'ACTIVE' | 'STOPPED' | 'TERMINATED';
  /** What comes before the first request: a question, or a note about the price. */
  before?(targets: readonly Target[], context: Context): Promise<void>;
  /** The service accepted the request for one instance. */
  onAccepted?(id: string): void;
}

/**
 * Changes several instances. All requests are sent before any is waited for, since one that is sent
 * late bills for longer. A failure of one stops no other; `failure` is theirs together.
 * `until`: the status, or `ssh`, to wait for.
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
      ({ targets, missing } = await findEach(typed, context, { changes: true }));
      if (targets.length === 0) throwAll(missing);
      await change.before?.(targets, context);
      return context.api();
    },
  );
  const sent = await eachBounded(targets, AT_ONCE, (target) =>
    attempt(target, () => send(change, target, { api, waits: until !== undefined }, context)),
  );
  const outcomes = until === undefined ? sent : await waitForEach(sent, until, times, context);
  return outcomeOf([...outcomes, ...missing], targets);
}

interface Sending {
  readonly api: Api;
  /** Whether the status is waited for afterwards. */
  readonly waits: boolean;
}

async function send(
  change: Change,
  target: Target,
  { api, waits }: Sending,
  context: Context,
): Promise<Changed> {
  let sent = false;
  try {
    const answer = await api.instances[change.verb](target.id, {
      // A start may bill once it was sent, so the first Ctrl-C waits for its response.
      ...(change.verb === 'start' ? { signal: context.interrupts.second } : {}),
      onSending() {
        sent = true;
      },
    });
    const status = await onTheWay(change, target, answer.status, api);
    change.onAccepted?.(target.id);
    return { id: target.id, name: target.name, ...answer, status };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
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

/**
 * Compares the status in the response with what was asked. A response may show the status from
 * before the request, so the instance is read once more.
 */
async function onTheWay(
  { verb, goal, done }: Change,
  { id, name }: Target,
  answered: string,
  api: Api,
): Promise<string> {
  if (leadsTo(goal, answered)) return answered;
  const found = await api.instances.get(id, BRIEFLY).catch((fault: unknown) => {
    if (fault instanceof CliError && !isInterrupt(fault)) return undefined;
    throw fault;
  });
  const status = found?.status ?? answered;
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
          : `try again: gpucloud instances ${verb} ${typedName(name, id)}`,
    },
  );
}

/** A change that failed leaves the instance as it was read last, which may be elsewhere. */
function stillThere(error: CliError, { last }: Target): CliError {
  const isNowhere = last === undefined && error.failure === 'notFound';
  const billing = mayBill(last) && !isNowhere;
  return billing && !error.mayBeBilling ? error.with(error.message, { mayBeBilling: true }) : error;
}

/**
 * A refusal has several reasons, and the state decides: what is done already is success (design:
 * Retries), so that a script may terminate an instance twice. Nothing is sent again.
 *
 * @throws the refusal if the state is another, or can't be read.
 */
async function alreadyThere(
  { id, name }: Target,
  { verb, goal }: Pick<Change, 'verb' | 'goal'>,
  refusal: CliError,
  { api, waits }: Sending,
  context: Context,
): Promise<Changed> {
  const found = await api.instances.get(id, BRIEFLY).catch((fault: unknown) => {
    throw isInterrupt(fault) ? fault : refusal.with(refusal.message, { mayBeBilling: true });
  });
  const { status } = found;
  if (!leadsTo(goal, status)) {
    const billing = mayBill(status);
    throw refusal.with(
      `${sentence(refusal.message)} Its status is ${status}. ${billing ? 'It may still be billing.' : 'It is no longer billing.'}`,
      {
        resource: id,
        mayBeBilling: billing,
        hint: afterRefusal(status, verb, typedName(name, id)),
      },
    );
  }
  if (status === goal || waits) {
    context.err.note(`${name} is already ${status}.`);
  } else {
    context.err.warn(
      'may_be_billing',
      `${name} is already ${status}, but not yet ${goal}. If that fails, it keeps billing. To make sure: gpucloud instances wait ${typedName(name, id)} --for ${goal.toLowerCase()}`,
    );
  }
  return { id, name, status };
}

/** What to do about an instance that was read after the service refused to stop or terminate it. */
function afterRefusal(status: string, verb: Change['verb'], instance: string): string {
  if (verb === 'terminate' || status === 'ACTIVE') {
    return `Try again later: gpucloud instances ${verb} ${instance}; what happened: gpucloud instances events ${instance}`;
  }
  if (!mayBill(status)) return `It can't be stopped: gpucloud instances get ${instance}`;
  return `Only an ACTIVE instance can be stopped; ${nextStep(status, instance)}; or terminate it: gpucloud instances terminate ${instance}`;
}

function notSent(interrupt: CliError, target: Target, { done }: Pick<Change, 'done'>): CliError {
  return interrupt.with(
    `${interrupt.message} ${titled(target)} was not ${done}: nothing was sent.`,
    {
      resource: target.id,
      mayBeBilling: true,
      hint: `gpucloud instances get ${typedName(target.name, target.id)}`,
    },
  );
}

/** One line for people, and an error for each instance for scripts. */
function noneSent(interrupt: CliError, targets: readonly Target[], change: Change): CliError {
  const [first, ...others] = targets.map((target) => notSent(interrupt, target, change));
  if (first === undefined || others.length === 0) return first ?? interrupt;
  const names = targets.map((target) => titled(target)).join(', ');
  return new SeveralErrors(
    [first, ...others],
    interrupt.with(`${interrupt.message} Not ${change.done}: ${names}. Nothing was sent.`, {
      hint: 'gpucloud instances list',
    }),
  );
}
