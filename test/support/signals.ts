import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

/**
 * Waits until a process has taken a signal that was sent to it. Two equal ones are one to a process
 * that was given no time between them.
 */
export async function taken(pid: number, signal: NodeJS.Signals): Promise<void> {
  const bit = 1n << BigInt(constants.signals[signal] - 1);
  for (let tries = 0; (pending(pid) & bit) !== 0n; tries += 1) {
    if (tries > 2000) throw new Error(`${signal} was not taken`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The signals that wait for a process, one bit each; none for one that has ended. */
function pending(pid: number): bigint {
  try {
    const masks =
      process.platform === 'linux'
        ? [...readFileSync(`/proc/${pid}/status`, 'utf8').matchAll(/^S\w+Pnd:\s*(\w+)$/gm)]
        : [
            ...execFileSync('ps', ['-o', 'pending=', '-p', `${pid}`], {
              encoding: 'utf8',
            }).matchAll(/(\w+)/g),
          ];
    return masks.reduce((all, [, mask]) => all | BigInt(`0x${mask}`), 0n);
  } catch {
    return 0n;
  }
}
