import type { Api } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError, SeveralErrors } from '../../errors.ts';
import { eachBounded } from '../kit/bounded.ts';
import type { Target } from './resolve.ts';
import { keepSighting } from './sighting.ts';
import { type Changed, changedView } from './view.ts';
import { type WaitTimes, waitFor } from './waiting.ts';

/** As many machines at once as is polite to a service whose rate limits are not documented. */
const AT_ONCE = 4;

export interface Change {
  /** Asks the service for the change of one machine. */
  ask(api: Api, id: string): Promise<{ status: string; paid_until?: string | null | undefined }>;
  /** The status, or `ssh`, that is waited for; undefined without `--wait`. */
  readonly until: string | undefined;
  readonly times: WaitTimes;
}

/**
 * Changes several machines and prints a line for each. A failure of one stops no other; it is told
 * with its machine's name, and the exit code is that of the gravest.
 */
export async function changeEach(
  targets: readonly Target[],
  change: Change,
  context: Context,
): Promise<void> {
  const api = await context.api();
  const outcomes = await eachBounded(targets, AT_ONCE, (target) =>
    changeOne(target, change, api, context),
  );
  const errors = outcomes.filter((outcome) => outcome instanceof CliError);
  const changed = outcomes.filter((outcome) => !(outcome instanceof CliError));
  if (changed.length > 0 || context.out.format !== 'table') {
    await context.out.list(changed, changedView);
  }
  const [first, ...others] = errors;
  if (first !== undefined) {
    throw others.length === 0 ? first : new SeveralErrors([first, ...others]);
  }
}

async function changeOne(
  target: Target,
  { ask, until, times }: Change,
  api: Api,
  context: Context,
): Promise<Changed | CliError> {
  try {
    const answer = await ask(api, target.id);
    await keepSighting({ id: target.id, name: target.name, status: answer.status }, context);
    if (until === undefined) {
      return { id: target.id, name: target.name, ...answer };
    }
    const { status, paid_until } = await waitFor(
      { target, until, after: answer.status },
      times,
      context,
    );
    return { id: target.id, name: target.name, status, paid_until };
  } catch (error) {
    if (error instanceof CliError) return named(error, target);
    throw error;
  }
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
