import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { Target } from '../../instances/resolve.ts';
import { gpucloud } from '../../output/shell-line.ts';
import type { HowToReach } from '../../reach/reach.ts';
import { typedName } from '../../rules/names.ts';
import type { Job } from '../job.ts';
import { createJobOutput } from '../output.ts';
import { ensureOpen, findJob } from '../record/find-job.ts';
import { withJob } from '../record/lock.ts';
import { readJob } from '../record/record.ts';
import { isCut, lastLine } from '../remote/failed-ssh.ts';
import { lastOf, type RemoteShell } from '../remote/remote-shell.ts';
import { STOP } from '../remote/supervisor.ts';
import { collect } from '../stages/collect.ts';
import { repeated } from '../stages/repeated.ts';
import { supervise } from '../supervise.ts';
import { look } from './look.ts';
import { signInOf } from './sign-in-of.ts';

/** Time to connect, in milliseconds. */
const LOOK = 30_000;
/** Seconds to wait for the command after SIGINT, and again after SIGTERM. */
const PATIENCE = 10;

interface Stopping {
  /** Copies the results and the output before the instance is terminated. */
  readonly fetches: boolean;
}

/** Stops the command, copies its results and terminates its instance. */
export async function stopJob(
  typed: string,
  { fetches }: Stopping,
  given: HowToReach,
  context: Context,
): Promise<void> {
  const found = ensureOpen(await findJob(typed, context, { changes: true }), context);
  const how = signInOf(found, given);
  const seen = await look(found, how, LOOK, context);
  if (!seen.isOver) await stopCommand(found, seen.shell, context);
  await withJob(found, context, async () => {
    const record = await readJob(found.id, context);
    // Another process that followed the job has completed it.
    if (record.ended_at !== null) return;
    const work = async (job: Job) => {
      const now = await look(record, how, LOOK, context);
      if (now.isOver) return;
      job.instance = now.instance;
      job.exitCode = now.exitCode;
      if (fetches) await collect(job, now, createJobOutput(context, job.stops.last), context);
    };
    await supervise({ record, how, by: 'stop' }, work, context);
  });
  // Stopping succeeded, regardless of the command's exit code.
  context.endWith(0);
}

async function stopCommand(job: Target, shell: RemoteShell, context: Context): Promise<void> {
  const { clock, signal, err } = context;
  const progress = err.progress(`Stopping the command on ${job.name}`);
  try {
    await repeated(() => signalCommand(job, shell, signal), signal, clock);
  } finally {
    progress.done();
  }
}

async function signalCommand(
  { id, name }: Target,
  shell: RemoteShell,
  signal: AbortSignal,
): Promise<void> {
  const running = await shell.start(STOP, [String(PATIENCE)], signal);
  running.stdin.end();
  running.stdout.resume();
  const words = lastOf(running.stderr);
  const code = await running.ended;
  signal.throwIfAborted();
  if (code === 0) return;
  const printed = await words;
  const reason = lastLine(printed) || `exit code ${code}`;
  throw new CliError('refused', `Could not stop the command on ${name}: ${reason}`, {
    mayBeBilling: true,
    retryable: isCut(code, printed),
    hint: `try again: ${gpucloud('jobs', 'stop', typedName(name, id))}`,
  });
}
