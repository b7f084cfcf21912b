import type { Instance } from '../api/index.ts';
import { AT_ONCE, eachBounded } from '../bounded.ts';
import type { Context } from '../context.ts';
import { CliError, unforeseen } from '../errors.ts';
import type { Journal } from '../journal/index.ts';
import { gpucloud } from '../output/shell-line.ts';
import { typedName } from '../rules/names.ts';
import { leadsTo } from '../rules/statuses.ts';
import { type Change, changeOne } from './change.ts';
import { BRIEFLY } from './read.ts';
import type { Target } from './resolve.ts';
import { waitFor } from './waiting.ts';

/**
 * Whether an instance has ended. Certain means that the service accepted the request, and that no
 * later read shows another status than TERMINATING or TERMINATED.
 */
export type Ending =
  | { readonly certain: true; readonly instance: Instance | undefined }
  | { readonly certain: false; readonly error: CliError };

/** Pauses before further attempts, in milliseconds. Each call also retries safe requests. */
const PAUSES = [2_000, 10_000, 30_000];

export async function endOne(target: Target, context: Context): Promise<Ending> {
  const [ending] = await endEach([target], context);
  if (ending === undefined) throw new Error('each instance has an ending');
  return ending;
}

/**
 * Terminates instances that this command rented, a few at a time. Asks nothing, and never throws:
 * one failure stops no other termination. Only the third Ctrl-C leaves the remaining instances.
 */
export function endEach(targets: readonly Target[], context: Context): Promise<Ending[]> {
  let isLeft = false;
  const left = new Promise<void>((resolve) => {
    context.host.onThirdInterrupt?.(() => {
      isLeft = true;
      resolve();
    });
  });
  return eachBounded<Target, Ending>(targets, AT_ONCE, async (target) => {
    const leave = (): Ending => notEnded(target, new CliError('interrupted', 'Interrupted.'));
    if (isLeft) return leave();
    // Uses a new context, since the first Ctrl-C stopped all requests of the command's context.
    const ending = context.shielded((own) => tryToEnd(target, own));
    const failed = (thrown: unknown) => notEnded(target, unforeseen(thrown));
    return Promise.race([ending.catch(failed), left.then(leave)]);
  });
}

async function tryToEnd(target: Target, context: Context): Promise<Ending> {
  const { instances } = await context.api();
  for (const pause of [...PAUSES, undefined]) {
    try {
      await terminateOne(target, context, { waits: true });
      const instance = await instances.get(target.id, BRIEFLY).catch((error: unknown) => {
        if (!(error instanceof CliError)) throw error;
        return undefined;
      });
      // The service rolls back a termination that failed later.
      if (instance === undefined || leadsTo('TERMINATED', instance.status)) {
        return { certain: true, instance };
      }
      throw new CliError(
        'refused',
        `The service accepted the request, but its status is ${instance.status}.`,
      );
    } catch (thrown) {
      const error = thrown instanceof CliError ? thrown : unforeseen(thrown);
      if (pause === undefined) return notEnded(target, error);
    }
    await context.clock.sleep(pause);
  }
  throw new Error('the last attempt returns');
}

function notEnded({ id, name }: Target, cause: CliError): Extract<Ending, { certain: false }> {
  const message = `Could not terminate ${name} (${id}): ${cause.message} It may still be billing.`;
  const hint = gpucloud('instances', 'terminate', typedName(name, id));
  const error = new CliError('outcomeUnknown', message, {
    resource: id,
    mayBeBilling: true,
    hint,
    cause,
  });
  return { certain: false, error };
}

/** Sends the request. Returns `already_ended` if the instance had ended before. */
async function terminateOne(
  target: Target,
  context: Context,
  { waits }: { readonly waits: boolean },
): Promise<'terminated' | 'already_ended'> {
  let outcome: 'terminated' | 'already_ended' = 'already_ended';
  const onAccepted = () => {
    outcome = 'terminated';
  };
  const change: Change = { verb: 'terminate', done: 'terminated', goal: 'TERMINATED', onAccepted };
  await changeOne(change, target, { api: await context.api(), waits }, context);
  return outcome;
}

type Held = Parameters<Parameters<Journal['withDeadline']>[1]>[0];

/**
 * Terminates an instance by its deadline or idle rule, while no other process can change them.
 * Returns undefined if `isDue` finds that another deadline or rule applies by now. Throws CliError.
 */
export function endHeld(
  target: Target,
  isDue: (held: Held) => boolean,
  journal: Journal,
  context: Context,
): Promise<'terminated' | 'already_ended' | undefined> {
  return journal.withDeadline(target.id, async (held) =>
    isDue(held) ? terminateOne(target, context, { waits: false }) : undefined,
  );
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
    if (!(error instanceof CliError)) throw error;
    if (error.failure === 'otherEnd') throw notEnded({ id, name }, error).error;
  }
}
