import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { Target } from '../../instances/resolve.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { typedName } from '../../rules/names.ts';
import { isCut, lastLine } from '../remote/failed-ssh.ts';
import { lastOf, type RemoteShell } from '../remote/remote-shell.ts';
import { STOP } from '../remote/supervisor.ts';
import { repeated } from './repeated.ts';

/** Seconds to wait for the command after SIGINT, and again after SIGTERM. */
export const PATIENCE = 10;

/**
 * Stops the command with SIGINT, SIGTERM and SIGKILL, each after this many seconds. Throws CliError.
 */
export async function stopCommand(
  job: Target,
  shell: RemoteShell,
  context: Context,
  patience = PATIENCE,
): Promise<void> {
  const { clock, signal, err } = context;
  const progress = err.progress(`Stopping the command on ${job.name}`);
  try {
    await repeated(() => signalCommand(job, shell, patience, signal), signal, clock);
  } finally {
    progress.done();
  }
}

async function signalCommand(
  { id, name }: Target,
  shell: RemoteShell,
  patience: number,
  signal: AbortSignal,
): Promise<void> {
  const running = await shell.start(STOP, [String(patience)], signal);
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
