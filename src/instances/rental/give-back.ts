import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { typedName } from '../../rules/names.ts';
import { leadsTo } from '../../rules/statuses.ts';
import { changeOne } from '../change.ts';
import type { Target } from '../resolve.ts';
import { waitFor } from '../waiting.ts';

/**
 * Terminates an unwanted new instance, reads it again and returns its status. Throws unless the
 * termination is certain.
 */
export async function giveBack(target: Target, context: Context): Promise<string> {
  const change = { verb: 'terminate', done: 'terminated', goal: 'TERMINATED' } as const;
  const api = await context.api();
  await changeOne(change, target, { api, waits: true }, context);
  return ensureEnded(target, context);
}

/** Reads an instance after its termination, since the service rolls back failed terminations. */
export async function ensureEnded(
  { id, name }: Pick<Target, 'id' | 'name'>,
  context: Context,
): Promise<string> {
  let status: string;
  try {
    ({ status } = await (await context.api()).instances.get(id));
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(
      'outcomeUnknown',
      `Requested the termination of ${name} (${id}), but could not read its status: ${error.message}`,
      {
        resource: id,
        mayBeBilling: true,
        hint: gpucloud('instances', 'get', typedName(name, id)),
        cause: error,
      },
    );
  }
  if (leadsTo('TERMINATED', status)) return status;
  throw new CliError(
    'outcomeUnknown',
    `The service accepted the request to terminate ${name} (${id}), but its status is ${status}. It may still be billing.`,
    {
      resource: id,
      mayBeBilling: true,
      hint: gpucloud('instances', 'terminate', typedName(name, id), '--wait'),
    },
  );
}

/** Milliseconds. */
const FOR_NAME = { timeout: 2 * 60_000, interval: 2_000 } as const;

/**
 * Waits until a terminated instance frees its name. The API document requires unique names, and a
 * TERMINATING instance may keep its name. Also returns after two minutes, since a taken name is a
 * definite refusal. Throws unless the termination is certain.
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
    if (!context.signal.aborted) await ensureEnded({ id, name }, context);
  }
}
