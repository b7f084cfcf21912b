import type { Context } from '../../context.ts';
import type { Target } from '../../instances/resolve.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { typedName } from '../../rules/names.ts';
import { scriptFailed } from '../remote/failed-ssh.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';
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
  const printed = await shell.run(STOP, signal, { args: [String(patience)] });
  if (printed.code === 0) return;
  throw scriptFailed(`Could not stop the command on ${name}`, printed, {
    mayBeBilling: true,
    hint: `try again: ${gpucloud('jobs', 'stop', typedName(name, id))}`,
  });
}
