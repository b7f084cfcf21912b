import type { Context } from '../../context.ts';
import { CliError, failuresOf } from '../../errors.ts';
import { shellLine } from '../../output/shell-line.ts';
import { clamp } from '../../output/width.ts';
import { type Command, recordedCommand } from '../command.ts';
import type { Job } from '../job.ts';
import { writeJob } from '../record/record.ts';
import { collect } from './collect.ts';
import { connect } from './connect.ts';
import { copyFiles } from './copies.ts';
import { fetchEvery } from './fetch-every.ts';
import { followToEnd } from './follow-to-end.ts';
import { receiveOutput } from './receive.ts';
import { repeated } from './repeated.ts';
import { startCommand } from './start-command.ts';
import { withoutExitCode } from './without-exit-code.ts';

/**
 * Runs the command on an instance and copies the results. Resumes the output of a running command
 * at the saved position. If this throws, `job` shows the progress. `command` defaults to the
 * recorded one.
 */
export async function runOn(
  job: Job,
  command: Command | undefined,
  context: Context,
): Promise<void> {
  const { record, stops, phases } = job;
  const there = await connect(job, context);
  // A later process finds the job in the same place.
  const [unsaved] = await failuresOf(writeJob(job.record, context));
  if (unsaved !== undefined) context.err.warn('local_storage', unsaved.message);
  const isNew = there.state === 'none';
  if (!isNew && job.by !== 'attach') throw otherJob(record.name);
  if (isNew) await copyFiles(job, there, context);
  phases.begin('running', clamp(shellLine(record.command, 'linux'), 50));
  if (isNew) {
    const started = command ?? recordedCommand(record);
    const start = () => startCommand(there.shell, started, record.started_at, stops.any);
    await repeated(start, stops.any, context.clock);
  }
  if (job.by === 'detach') return;
  const received = await receiveOutput(job, context);
  job.received = received;
  const { output } = received;
  const endFetching = fetchEvery(job, there.shell, output, context);
  try {
    job.exitCode = await followToEnd(job, there.shell, received, context);
  } finally {
    await endFetching();
  }
  await collect(job, there, output, context);
  if (output.lost !== undefined) throw output.lost;
  if (job.exitCode === undefined) throw withoutExitCode(stops);
}

/** Returns the error for another job's folder, which may be part of an image or drive. */
function otherJob(name: string): CliError {
  return new CliError(
    'runFailed',
    `${name} contains the folder ~/gpucloud-run of another job, so gpucloud did not run the command.`,
    { hint: 'remove that folder from the image or drive' },
  );
}
