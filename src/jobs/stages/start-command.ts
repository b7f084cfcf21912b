import { CliError } from '../../errors.ts';
import type { Command } from '../command.ts';
import { afterLine } from '../remote/after-line.ts';
import { isCut, lastLine } from '../remote/failed-ssh.ts';
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
  const code = await running.ended;
  const printed = await words;
  const reason = lastLine(printed) || `ssh exited with ${code}`;
  throw new CliError('refused', `Could not start the command: ${reason}.`, {
    retryable: isCut(code, printed),
  });
}
