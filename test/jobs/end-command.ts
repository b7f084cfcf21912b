import { existsSync, readFileSync } from 'node:fs';
import { errorCode } from '../../src/system/error-code.ts';

/** Kills a running command and its child processes. */
export function endCommand(pidFile: string): void {
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8'));
  // PID 0, read from an empty file, would kill our own process group.
  if (!(pid > 1)) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}
