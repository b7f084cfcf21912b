import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

/**
 * Waits until a process has handled a signal. Two equal signals count as one if they arrive too
 * close together.
 */
export async function taken(pid: number, signal: NodeJS.Signals): Promise<void> {
  const bit = 1n << BigInt(constants.signals[signal] - 1);
  for (let tries = 0; (pending(pid) & bit) !== 0n; tries += 1) {
    if (tries > 2000) throw new Error(`${signal} was not taken`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Returns a process's pending signals, one bit each; none after its end. */
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
