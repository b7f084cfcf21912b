import type { Context } from '../../context.ts';
import { CliError, isInterrupt } from '../../errors.ts';
import { notify } from '../../instances/deadlines/notify.ts';
import type { JobEnd } from './report.ts';

/** Sends the event that a job ended, if its instance was rented. */
export async function notifyOfEnd(
  { instance, terminated, command_exit_code, error }: JobEnd,
  started_at: string,
  context: Context,
): Promise<void> {
  if (instance === null) return;
  const { id, name } = instance;
  const about = { id, name, exit_code: command_exit_code };
  if (terminated !== 'unknown') {
    const ended =
      command_exit_code === null
        ? 'disappeared without an exit code'
        : `exited with ${command_exit_code}`;
    const how = error?.message ?? `The command on ${name} ${ended}.`;
    const then = terminated ? `Terminated ${name}.` : `Kept ${name}: it bills.`;
    const message = `${how} ${then}`;
    return notify({ event: 'job_ended', ...about, message }, started_at, context);
  }
  const { cause, message = '' } = error ?? {};
  // Sends nothing after the third Ctrl-C, since a person is present.
  if (cause instanceof CliError && isInterrupt(cause)) return;
  const isRefused = cause instanceof CliError && cause.failure !== 'outcomeUnknown';
  const event = isRefused ? 'terminate_failed' : 'outcome_unknown';
  await notify({ event, ...about, message }, started_at, context);
}
