import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { Journal } from '../../journal/index.ts';
import { typedName } from '../../rules/names.ts';
import { mayBill } from '../../rules/statuses.ts';
import type { Changed } from '../outcome.ts';
import type { Target } from '../resolve.ts';
import { readEnforcement } from './armed.ts';

/**
 * Sets or removes an instance's deadline. Holds the lock that `reap` needs while it reads the
 * instance, so the printed status stays true. Throws CliError('wrongState') for an ended instance.
 */
export function setDeadline(
  { id, name }: Target,
  deadline: string | undefined,
  journal: Journal,
  context: Context,
): Promise<Changed> {
  return journal.withDeadline(id, async (held) => {
    const instance = await (await context.api()).instances.get(id);
    const { status, paid_until } = instance;
    if (!mayBill(status)) {
      throw new CliError('wrongState', `${name} has ended: its status is ${status}.`, {
        resource: id,
        hint: `rent one like it: gpucloud instances reorder ${typedName(name, id)} NEW-NAME`,
      });
    }
    await held.set(instance.name ?? name, deadline);
    return { id, name: instance.name ?? name, status, paid_until, ends_at: deadline };
  });
}

/** Warns if nothing enforces the deadlines. */
export async function warnUnenforced(journal: Journal, context: Context): Promise<void> {
  const enforcement = await readEnforcement(context, await journal.account());
  if (enforcement.isArmed) return;
  context.err.warn(
    'deadline_unenforced',
    `Nothing on this computer enforces deadlines: ${enforcement.reason}. Arm it: gpucloud instances reap --install`,
  );
}
