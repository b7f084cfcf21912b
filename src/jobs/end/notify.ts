import type { Context } from '../../context.ts';
import { CliError, isInterrupt } from '../../errors.ts';
import { notify } from '../../instances/deadlines/notify.ts';
import { namesText } from '../phases.ts';
import type { JobEnd } from './report.ts';

/** How a run ended, with one or several instances. */
interface RunEnd extends Pick<JobEnd, 'command_exit_code' | 'error'> {
  readonly name: string;
  readonly members: readonly Pick<JobEnd, 'instance' | 'terminated' | 'error'>[];
}

/** Sends the event that a job ended, if its instance was rented. */
export async function notifyOfEnd(
  end: JobEnd,
  started_at: string,
  context: Context,
): Promise<void> {
  const { instance, command_exit_code, error } = end;
  const { name = '' } = instance ?? {};
  await notifyOfEnds({ name, command_exit_code, error, members: [end] }, started_at, context);
}

/** Sends an event for each instance that may still bill, or else one that the job ended. */
export async function notifyOfEnds(
  { name, command_exit_code: exit_code, error, members }: RunEnd,
  started_at: string,
  context: Context,
): Promise<void> {
  const rented = members.flatMap(({ instance, ...how }) =>
    instance === null ? [] : { ...instance, ...how },
  );
  const doubtful = rented.filter(({ terminated }) => terminated === 'unknown');
  for (const { id, name, error } of doubtful) {
    // Sends nothing after the third Ctrl-C, since a person is present.
    if (error === undefined || isInterrupt(error.cause)) continue;
    const { cause, message } = error;
    const isRefused = cause instanceof CliError && cause.failure !== 'outcomeUnknown';
    const event = isRefused ? 'terminate_failed' : 'outcome_unknown';
    await notify({ event, id, name, exit_code, message }, started_at, context);
  }
  const [first] = rented;
  if (first === undefined || doubtful.length > 0) return;
  const namesOf = (some: typeof rented) => namesText(some.map((one) => one.name));
  const how = exit_code === null ? 'disappeared without an exit code' : `exited with ${exit_code}`;
  const what = error?.message ?? `The command on ${namesOf(rented)} ${how}.`;
  const kept = rented.filter(({ terminated }) => terminated === false);
  const then =
    kept.length === 0 ? `Terminated ${namesOf(rented)}.` : `Kept ${namesOf(kept)}: it bills.`;
  const event = { event: 'job_ended', id: first.id, name, exit_code } as const;
  await notify({ ...event, message: `${what} ${then}` }, started_at, context);
}
