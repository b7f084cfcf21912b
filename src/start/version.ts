import { fstatSync, writeSync } from 'node:fs';

declare const GPUCLOUD_VERSION: string;

/**
 * Prints the version if nothing else is requested. Returns whether everything was written. If not,
 * the program tries again and reports the fault.
 */
export function printedVersion([only, ...more]: readonly string[]): boolean {
  if (more.length > 0 || (only !== '--version' && only !== '-V')) return false;
  const version = `gpucloud ${GPUCLOUD_VERSION}\n`;
  try {
    // A file may have reached its size limit, which would end this process by a signal.
    return !fstatSync(1).isFile() && writeSync(1, version) === version.length;
  } catch {
    return false;
  }
}
