import { sentence } from '../api/errors-of-answers.ts';
import type { Api, Instance } from '../api/index.ts';
import type { Changed } from '../commands/instances/view.ts';
import type { Context } from '../context.ts';
import { type CliError, isInterrupt } from '../errors.ts';
import { mayBill } from '../rules/statuses.ts';
import { LONGEST_WITHIN_MS } from '../watch/passing.ts';
import type { Target } from './resolve.ts';
import { keepSighting, sightingOf } from './sighting.ts';

/** Where a change leads to, for one that may be done already. */
export interface Goal {
  /** The word of the command line: `terminate`. */
  readonly verb: string;
  /** The status of the way there, from which the service may fall back (API document: States). */
  readonly underway: string;
  /** The status that stays. */
  readonly final: string;
}

/** Milliseconds that a refusal is held back for the reading that explains it. */
const PATIENCE = 5000;

/**
 * What is done already is success (design: Retries), so that a script may end a machine twice. The
 * refusal has several reasons, and the state that is read decides; nothing is sent again. One that is
 * on its way is success too, and whoever does not wait for it is warned that it may come back.
 *
 * @throws the refusal where the state is another, with that state; as it may be billing where the
 * state can't be read.
 */
export async function afterRefusal(
  { id, name }: Target,
  { goal, waits }: { goal: Goal; waits: boolean },
  refusal: CliError,
  api: Api,
  context: Context,
): Promise<Changed> {
  const patience = { timeoutMs: PATIENCE, longestPauseMs: LONGEST_WITHIN_MS };
  const found = await api.instances.get(id, patience).catch((fault: unknown) => {
    throw isInterrupt(fault) ? fault : unread(refusal);
  });
  await keepSighting(sightingOf(found), context);
  const { status } = found;
  if (status !== goal.final && status !== goal.underway) throw refusedIn(found, goal, refusal);
  if (status === goal.final || waits) {
    context.err.note(`${name} is ${status} already.`);
  } else {
    context.err.warn(
      `${name} is ${status} already, which is not over yet: where the service fails to ${goal.verb} it, it goes back to what it was, and is billed on. To make sure: gpucloud instances wait ${id} --for ${goal.final.toLowerCase()}`,
    );
  }
  return { id, name, status };
}

function unread(refusal: CliError): CliError {
  return refusal.with(refusal.message, { mayBeBilling: true });
}

function refusedIn({ id, status }: Instance, goal: Goal, refusal: CliError): CliError {
  const billing = mayBill(status);
  const meaning = billing ? 'Count it as still billing.' : 'It is not billing any more.';
  const hint = hintFor(id, status, goal) ?? refusal.hint;
  return refusal.with(`${sentence(refusal.message)} It was read as ${status} now. ${meaning}`, {
    resource: id,
    mayBeBilling: billing,
    ...(hint === undefined ? {} : { hint }),
  });
}

function hintFor(id: string, status: string, { verb }: Goal): string | undefined {
  const repeat = `Again in a while: gpucloud instances ${verb} ${id}; what happened: gpucloud instances events ${id}`;
  if (verb === 'terminate') return repeat;
  switch (status) {
    case 'ACTIVE':
      return repeat;
    case 'TERMINATING':
    case 'TERMINATED':
      return `It can't be stopped any more: gpucloud instances get ${id}`;
    case 'ERROR':
      return `See what happened: gpucloud instances events ${id}; end it: gpucloud instances terminate ${id}`;
    default:
      return `Only an ACTIVE instance can be stopped. Wait for it: gpucloud instances wait ${id}; or end it: gpucloud instances terminate ${id}`;
  }
}
