import type { Api, CallOptions } from '../../api/index.ts';
import { eachBounded } from '../../bounded.ts';
import { shellLine } from '../../cli/shell-line.ts';
import type { Context } from '../../context.ts';
import { CliError, isInterrupt, SeveralErrors } from '../../errors.ts';
import { beforeSending } from '../../instances/before-sending.ts';
import { afterRefusal, type Goal } from '../../instances/refused-change.ts';
import { findMachines, type Target } from '../../instances/resolve.ts';
import { keepSighting } from '../../instances/sighting.ts';
import type { Gate } from '../../watch/gate.ts';
import { errorOfSeveral, politely, type WaitTimes, waitFor } from '../../watch/waiting.ts';
import { type Changed, changedView } from './view.ts';

/** As many requests at once as is polite to a service whose rate limits are not documented. */
const ASKED_AT_ONCE = 4;

/** What the service answers to a change of status (API document: start, stop, terminate). */
type Answer = Awaited<ReturnType<Api['instances']['start']>>;

export interface Change {
  /** What comes before the machines are asked for: a question, or a word of the price. */
  before?(targets: readonly Target[]): Promise<void>;
  /** Asks the service for the change of one machine. */
  ask(api: Api, id: string, options: CallOptions): Promise<Answer>;
  /** Completes "NAME was not …": `terminated`. */
  readonly done: string;
  /** For a change that is no error where it is done already. */
  readonly goal?: Goal;
  /** The status, or `ssh`, that is waited for; undefined without `--wait`. */
  readonly until: string | undefined;
  readonly times: WaitTimes;
}

/**
 * Changes several machines and prints a line for each. All are asked for before any is waited for,
 * since one that is asked for late bills for longer. A failure of one stops no other; it is told
 * with its machine's name, and the exit code is that of the gravest.
 */
export async function changeEach(
  typed: readonly string[],
  change: Change,
  context: Context,
): Promise<void> {
  let targets = [...new Set(typed)].map((text): Target => ({ id: text, name: text }));
  const unchanged = (interrupt: CliError) => noneSent(interrupt, targets, change);
  const api = await beforeSending(context, unchanged, async () => {
    targets = await findMachines(typed, context);
    await change.before?.(targets);
    return await context.api();
  });
  const asked = await eachBounded(targets, ASKED_AT_ONCE, (target) =>
    settled(target, () => askOne(target, change, api, context)),
  );
  const { until, times } = change;
  const gate = politely();
  const outcomes = await Promise.all(
    asked.map((outcome) =>
      outcome instanceof CliError || until === undefined
        ? outcome
        : settled(outcome, () => awaitOne(outcome, { until, gate, times }, context)),
    ),
  );
  const errors = outcomes.filter((outcome) => outcome instanceof CliError);
  const changed = outcomes.filter((outcome) => !(outcome instanceof CliError));
  if (changed.length > 0 || context.out.format !== 'table') {
    await context.out.list(changed, changedView);
  }
  const [first, ...others] = errors;
  if (first !== undefined) throw errorOfSeveral([first, ...others], targets);
}

async function settled(target: Target, work: () => Promise<Changed>): Promise<Changed | CliError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CliError) return named(error, target);
    throw error;
  }
}

async function askOne(
  { id, name }: Target,
  { ask, done, goal, until }: Change,
  api: Api,
  context: Context,
): Promise<Changed> {
  let sent = false;
  try {
    const answer = await ask(api, id, {
      onSending() {
        sent = true;
      },
    });
    await keepSighting({ id, name, status: answer.status }, context);
    return { id, name, ...answer };
  } catch (error) {
    if (goal !== undefined && error instanceof CliError && error.failure === 'wrongState') {
      const aim = { goal, waits: until !== undefined };
      return await afterRefusal({ id, name }, aim, error, api, context);
    }
    throw sent || !isInterrupt(error) ? error : notSent(error, { id, name }, done);
  }
}

function notSent(interrupt: CliError, { id, name }: Target, done: string): CliError {
  return interrupt.with(
    `${interrupt.message} ${name === id ? id : `${name} (${id})`} was not ${done}: nothing was sent, and it goes on as it was.`,
    {
      resource: id,
      mayBeBilling: true,
      hint: shellLine(['gpucloud', 'instances', 'get', id]),
    },
  );
}

/** One line for people, and an error for each machine for scripts. */
function noneSent(
  interrupt: CliError,
  targets: readonly Target[],
  { done }: Pick<Change, 'done'>,
): CliError {
  const [first, ...others] = targets.map((target) => notSent(interrupt, target, done));
  if (first === undefined || others.length === 0) return first ?? interrupt;
  const names = targets.map(({ id, name }) => (name === id ? id : `${name} (${id})`)).join(', ');
  return new SeveralErrors(
    [first, ...others],
    interrupt.with(
      `${interrupt.message} Not ${done}: ${names}. Nothing was sent, and they go on as they were.`,
      { hint: 'gpucloud instances list' },
    ),
  );
}

async function awaitOne(
  { id, name, status: after }: Changed,
  { until, gate, times }: { until: string; gate: Gate; times: WaitTimes },
  context: Context,
): Promise<Changed> {
  const awaited = { target: { id, name }, until, after, gate };
  const { status, paid_until } = await waitFor(awaited, times, context);
  return { id, name, status, paid_until };
}

/** Names the machine in an error that knows only what the service said. */
function named(error: CliError, target: Target): CliError {
  if (error.message.includes(target.id) || error.message.includes(target.name)) {
    return error;
  }
  return error.with(`${target.name}: ${error.message}`, { resource: target.id });
}
