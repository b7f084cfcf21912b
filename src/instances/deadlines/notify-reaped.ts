import { AT_ONCE, eachBounded } from '../../bounded.ts';
import type { Context } from '../../context.ts';
import { type NotifyEvent, notify } from './notify.ts';
import type { Reaped, Reaping } from './reap.ts';

const EVENTS: Readonly<Partial<Record<Reaped['outcome'], NotifyEvent['event']>>> = {
  terminated: 'terminated_at_deadline',
  refused: 'terminate_failed',
  unknown: 'outcome_unknown',
};

/** Notifies of instances that a pass terminated at their deadline, or failed to terminate. */
export async function notifyOfReaped(
  { rows, errors }: Pick<Reaping, 'rows' | 'errors'>,
  context: Context,
): Promise<void> {
  await eachBounded(rows, AT_ONCE, async ({ id, name, deadline, outcome, reason }) => {
    const isIdle = reason === 'idle';
    const event = isIdle && outcome === 'terminated' ? 'terminated_idle' : EVENTS[outcome];
    if (event === undefined) return;
    const failure = errors.find(({ resource }) => resource === (id ?? name));
    const message =
      failure?.message ??
      `${name} was terminated ${isIdle ? 'by its idle rule' : 'at its deadline'}.`;
    await notify({ event, id, name, message, exit_code: null }, deadline ?? '', context);
  });
}
