import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { typedName } from '../../rules/names.ts';
import { leadsTo } from '../../rules/statuses.ts';
import { changeOne } from '../change.ts';
import type { Target } from '../resolve.ts';

/**
 * Terminates a new instance that is not wanted, and reads it back. Returns its status. Throws unless
 * it certainly ends.
 */
export async function giveBack(target: Target, context: Context): Promise<string> {
  const change = { verb: 'terminate', done: 'terminated', goal: 'TERMINATED' } as const;
  const api = await context.api();
  await changeOne(change, target, { api, waits: true }, context);
  return ensureEnded(target, context);
}

/** Reads a terminated instance back: the service rolls back a termination that fails. */
export async function ensureEnded(
  { id, name }: Pick<Target, 'id' | 'name'>,
  context: Context,
): Promise<string> {
  let status: string;
  try {
    ({ status } = await (await context.api()).instances.get(id));
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw error.with(`${name} (${id}) was terminated, but could not be read: ${error.message}`, {
      resource: id,
      mayBeBilling: true,
    });
  }
  if (leadsTo('TERMINATED', status)) return status;
  throw new CliError('otherEnd', `${name} (${id}) was terminated, but its status is ${status}.`, {
    resource: id,
    mayBeBilling: true,
    hint: `gpucloud instances terminate ${typedName(name, id)} --wait`,
  });
}
