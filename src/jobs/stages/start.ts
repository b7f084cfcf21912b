import type { Context } from '../../context.ts';
import { asCliError, CliError } from '../../errors.ts';
import { shellLine } from '../../output/shell-line.ts';
import { clamp } from '../../output/width.ts';
import { recordedCommand } from '../command.ts';
import type { Failed } from '../drive.ts';
import type { Job } from '../job.ts';
import { note, timeNow } from '../record/note.ts';
import { writeJob } from '../record/record.ts';
import { connect } from './connect.ts';
import { copyFiles } from './copies.ts';
import { repeated } from './repeated.ts';
import { startCommand } from './start-command.ts';

/** Waits for the instance, copies in, and starts the command. */
export async function start(job: Job, context: Context): Promise<Failed> {
  const { stops, phases } = job;
  job.failure = undefined;
  let attempts = 0;
  try {
    stops.any.throwIfAborted();
    if (job.early !== undefined) throw job.early;
    job.there = await connect(job, context);
    if (job.there.state !== 'none') throw otherJob(job.record.name);
    await copyFiles(job, job.there, context);
    await note(job, { copied_at: timeNow(context) }, context);
    const { record } = job;
    const shown = clamp(shellLine(record.command, 'linux'), 50);
    const { setup } = record;
    const isSetUp = setup !== null && setup.mark === job.there.setUp && !setup.again;
    if (isSetUp) {
      context.err.note(
        `Skipped the setup: it has succeeded on ${record.name}. --setup-again repeats it.`,
      );
    }
    phases.begin('running', setup === null || isSetUp ? shown : `the setup, then ${shown}`);
    const command = job.command ?? recordedCommand(record);
    stops.any.throwIfAborted();
    // Stored before the request, since another process must not start the command again.
    job.record = { ...record, command_started_at: timeNow(context) };
    await writeJob(job.record, context);
    const { shell } = job.there;
    const begin = async () => {
      attempts += 1;
      await startCommand(shell, command, record.started_at, stops.any);
    };
    await repeated(begin, stops.any, context.clock);
    await note(job, { shown_at: timeNow(context) }, context);
    return 'none';
  } catch (error) {
    job.failure = asCliError(error);
    // The instance certainly did not start the command. An earlier attempt that was cut may have.
    const isRefused = job.failure.failure === 'refused' && attempts <= 1;
    if (isRefused) await note(job, { command_started_at: null }, context);
    return 'start';
  }
}

/** Returns the error for another job's folder, which may be part of an image or drive. */
function otherJob(name: string): CliError {
  return new CliError(
    'runFailed',
    `${name} contains the folder ~/gpucloud-run of another job, so gpucloud did not run the command.`,
    { hint: 'remove that folder from the image or drive' },
  );
}
