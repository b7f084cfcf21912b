import type { Api, CallOptions } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError, isInterrupt } from '../../errors.ts';
import type { Gate } from '../../watch/gate.ts';
import { eachBounded } from '../kit/bounded.ts';
import { keepSighting } from '../kit/sighting.ts';
import { afterRefusal, type Goal } from './refused-change.ts';
import type { Target } from './resolve.ts';
import { type Changed, changedView } from './view.ts';
import { errorOfSeveral, politely, type WaitTimes, waitFor } from './waiting.ts';

/** As many requests at once as is polite to a service whose rate limits are not documented. */
const ASKED_AT_ONCE = 4;

/** What the service answers to a change of status (API document: start, stop, terminate). */
type Answer = Awaited<ReturnType<Api['instances']['start']>>;

export interface Change {
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
  targets: readonly Target[],
  change: Change,
  context: Context,
): Promise<void> {
  const api = await context.api();
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
    if (sent || !isInterrupt(error)) throw error;
    throw new CliError(
      error.failure,
      `${error.message} ${name} (${id}) was not ${done}: nothing was sent, and it goes on as it was.`,
      { resource: id, mayBeBilling: true, cause: error, hint: `gpucloud instances get ${id}` },
    );
  }
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
  return new CliError(error.failure, `${target.name}: ${error.message}`, {
    resource: target.id,
    retryable: error.retryable,
    mayBeBilling: error.mayBeBilling,
    cause: error,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(error.httpStatus === undefined ? {} : { httpStatus: error.httpStatus }),
  });
}
