import { existsSync, readFileSync } from 'node:fs';
import { errorCode } from '../../src/files/error-code.ts';

/** Ends a command that still runs, with everything that it started. */
export function endCommand(pidFile: string): void {
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8'));
  // A file without a number would mean our own group.
  if (!(pid > 1)) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}
