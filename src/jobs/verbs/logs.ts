import type { Context } from '../../context.ts';
import { isCtrlC } from '../../errors.ts';
import type { HowToReach } from '../../ssh/reach.ts';
import { keptOutput, missingOf } from '../kept.ts';
import { createJobOutput, type JobOutput } from '../output.ts';
import { sizeText } from '../phases.ts';
import { findJob } from '../record/find-job.ts';
import {
  isRented,
  isShown,
  type JobRecord,
  overStatus,
  type RentedRecord,
  readJob,
} from '../record/record.ts';
import { ensureSameHost } from '../remote/failed-ssh.ts';
import { follow, type Offsets, offsetsOf } from '../remote/follow.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';
import { look } from './look.ts';
import { signInOf } from './sign-in-of.ts';

interface Wanted {
  /** Waits for more output until the command exits. */
  readonly follows: boolean;
  /** The number of lines of each output; undefined for all. */
  readonly lines: number | undefined;
}

/**
 * Prints the output of a job, byte for byte: from its instance, or from this computer once the job
 * has ended. Reads only: a signal or a lost reader never affects the command.
 */
export async function printLogs(
  typed: string,
  wanted: Wanted,
  given: HowToReach,
  context: Context,
): Promise<void> {
  const job = await findJob(typed, context);
  const output = createJobOutput(context, context.signal);
  try {
    await printAll(job, wanted, given, output, context);
  } catch (error) {
    // Ctrl-C is the normal way to close a view, so print no message.
    throw isCtrlC(error) ? error.with(error.message, { silent: true }) : error;
  }
  if (output.lost !== undefined) throw output.lost;
}

async function printAll(
  job: JobRecord,
  wanted: Wanted,
  given: HowToReach,
  output: JobOutput,
  context: Context,
): Promise<void> {
  if (job.here) return noteHere(job, context);
  if (job.ended_at !== null) return printKept(job, wanted, output, context);
  if (!isRented(job)) return noteNone(job, context);
  const seen = await look(job, signInOf(job, given), context);
  // Another process may have just completed the job.
  if (seen.isOver) return printKept(await readJob(job.uid, context), wanted, output, context);
  if (seen.state === 'none') {
    return isShown(job) ? warnLost(job, context) : noteNone(job, context);
  }
  await printRemote(job, wanted, seen.shell, output, context);
}

function noteNone({ name }: JobRecord, { err }: Context): void {
  err.note(`The command on ${name} has not started yet.`);
}

function noteHere({ name }: JobRecord, { err }: Context): void {
  err.note(`The command that uses ${name} runs on this computer. Its output is not stored.`);
}

async function printRemote(
  job: RentedRecord,
  { follows, lines }: Wanted,
  shell: RemoteShell,
  output: JobOutput,
  context: Context,
): Promise<void> {
  const { clock, err, signal } = context;
  const start: Offsets =
    lines === undefined ? { out: 0, err: 0 } : await offsetsOf(shell, ['-n', lines], signal);
  let ended: JobRecord | undefined;
  const over = new Error('stopped following');
  try {
    const { exitCode, isRunning } = await follow({
      shell,
      offsets: start,
      isOnce: !follows,
      clock,
      signal,
      async print(from, bytes) {
        await output.print(from, bytes);
        if (output.isClosed) throw over;
      },
      async onCut({ reason, isNew }) {
        ensureSameHost(reason, job);
        const now = await readJob(job.uid, context);
        // The process that follows the job has copied the rest of the output.
        if (now.ended_at !== null) {
          ended = now;
          throw over;
        }
        if (isNew) err.warn('connection', `The connection to ${job.name} was lost (${reason}).`);
      },
      onBack: () => err.note(`Reconnected to ${job.name}.`),
    });
    if (exitCode === undefined && isRunning !== true) warnLost(job, context);
  } catch (error) {
    if (error !== over) throw error;
    // Exits quietly if stdout is closed.
    if (ended === undefined) return;
    for (const from of ['out', 'err'] as const) {
      for await (const chunk of keptOutput(ended, from, { after: start[from] }, context)) {
        await output.print(from, chunk);
      }
    }
  }
}

async function printKept(
  job: JobRecord,
  { lines }: Wanted,
  output: JobOutput,
  context: Context,
): Promise<void> {
  for (const from of ['out', 'err'] as const) {
    const { first, last } = await missingOf(job, from, context);
    const warn = (part: string, bytes: number) =>
      context.err.warn(
        'incomplete',
        `The ${part} ${sizeText(bytes)} of std${from} of ${job.name} ${bytes === 1 ? 'was' : 'were'} not kept.`,
      );
    if (lines === undefined && first > 0) warn('first', first);
    for await (const chunk of keptOutput(job, from, { lines }, context)) {
      await output.print(from, chunk);
    }
    if (last > 0) {
      output.endLine();
      warn('last', last);
    }
  }
  if (job.exit_code !== null) return;
  if (overStatus(job) === 'LOST') return warnLost(job, context);
  const why = job.reason ?? 'it was terminated first.';
  context.err.warn('incomplete', `The exit code of ${job.name} is unknown: ${why}`);
}

function warnLost({ name }: JobRecord, { err }: Context): void {
  err.warn('incomplete', `The command on ${name} disappeared without an exit code.`);
}
