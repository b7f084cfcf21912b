import { CliError } from '../../errors.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';
import { START, STARTED, supervisorOf } from '../remote/supervisor.ts';

const ATTEMPTS = 3;

/** Starts the command once: a second request finds it started. */
export async function startCommand(
  shell: RemoteShell,
  command: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  let reason = '';
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const running = await shell.start(START, [], signal);
    running.stdin.end(supervisorOf(command));
    let printed = '';
    for await (const chunk of running.stdout) {
      printed += String(chunk);
      // The supervisor keeps this connection open, but does not need it.
      if (printed.split('\n').includes(STARTED)) {
        running.kill();
        return;
      }
    }
    signal.throwIfAborted();
    reason = `ssh ended with ${await running.ended}`;
  }
  throw new CliError('refused', `Could not start the command: ${reason}.`);
}
