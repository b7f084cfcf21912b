import type { Command } from '../command.ts';
import { afterLine } from '../remote/after-line.ts';
import { scriptFailed } from '../remote/failed-ssh.ts';
import { lastOf, type RemoteShell } from '../remote/remote-shell.ts';
import { START, STARTED, supervisorOf } from '../remote/supervisor.ts';

/** Starts the command, unless an earlier call has started it. Throws a retryable CliError. */
export async function startCommand(
  shell: RemoteShell,
  command: Command,
  job: string,
  signal: AbortSignal,
): Promise<void> {
  const running = await shell.start(START, [], signal, supervisorOf(command, job));
  const words = lastOf(running.stderr);
  for await (const _rest of afterLine(running.stdout, STARTED)) {
    // The supervisor keeps this connection open, but does not need it.
    running.kill();
    return;
  }
  signal.throwIfAborted();
  const printed = { code: await running.ended, stderr: await words };
  throw scriptFailed('Could not start the command', printed);
}
