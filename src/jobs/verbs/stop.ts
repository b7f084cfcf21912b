import type { Context } from '../../context.ts';
import { ensureCliError, failuresOf, throwAll } from '../../errors.ts';
import type { HowToReach } from '../../ssh/reach.ts';
import { createJob, driveJob, printEnd } from '../driver.ts';
import { ensureOpen, findJob } from '../record/find-job.ts';
import { Followed, withJob } from '../record/lock.ts';
import { askToStop, isRented, type JobRecord, readJob } from '../record/record.ts';
import { stopCommand } from '../stages/stop-command.ts';
import { adopted } from './adopt.ts';
import { look } from './look.ts';
import { signInOf } from './sign-in-of.ts';

/** Milliseconds between two looks at a job that another process follows. */
const PAUSE = 2_000;

interface Stopping {
  /** Copies the results and the output before the instance is terminated. */
  readonly fetches: boolean;
}

/**
 * Stops a job, copies its results and terminates its instance. If another process follows the job,
 * stops the command and waits until that process has completed the job.
 */
export async function stopJob(
  typed: string,
  { fetches }: Stopping,
  given: HowToReach,
  context: Context,
): Promise<void> {
  const found = ensureOpen(await findJob(typed, context, { changes: true }), context);
  let isNoted = false;
  for (let isDone = false; !isDone; ) {
    // Again each time, since a process that began to follow the job meanwhile knows no earlier call.
    await askToStop(found.uid, context);
    const job = await readJob(found.uid, context);
    const own = async () => {
      isDone = true;
      await stopOwn(job, fetches, given, context);
    };
    const faults = await failuresOf(withJob(job, context, own, { patience: 0 }));
    if (isDone || !faults.some((one) => one instanceof Followed)) {
      throwAll(faults);
      break;
    }
    if (job.here && !isNoted) {
      const what = `Stopping run --here. Waiting until it has terminated ${job.name}.`;
      context.err.note(what);
      isNoted = true;
    }
    await stopFollowed(job, given, context);
    await context.clock.sleep(PAUSE, context.signal);
  }
  // Stopping succeeded, regardless of the command's exit code.
  context.endWith(0);
}

async function stopOwn(
  { uid }: JobRecord,
  fetches: boolean,
  given: HowToReach,
  context: Context,
): Promise<void> {
  // Another process that followed the job has completed it.
  if ((await readJob(uid, context)).ended_at !== null) return;
  const record = await adopted(uid, context);
  const job = await createJob({ record, how: signInOf(record, given), by: 'stop' }, context);
  const end = await driveJob(job, { skipsResults: !fetches }, context);
  if (end !== undefined) await printEnd(end, job, context);
}

/** Stops the command of a job that another process follows. That process fetches the results. */
async function stopFollowed(job: JobRecord, given: HowToReach, context: Context): Promise<void> {
  // That process stops by itself before the command, and stops the command of `run --here`.
  if (job.here || !isRented(job) || job.command_started_at === null || job.exit_code !== null)
    return;
  try {
    const seen = await look(job, signInOf(job, given), context);
    if (!seen.isOver && seen.state === 'running') await stopCommand(job, seen.shell, context);
  } catch (error) {
    context.signal.throwIfAborted();
    // The next look may succeed.
    ensureCliError(error);
    context.err.warn('connection', error.message);
  }
}
