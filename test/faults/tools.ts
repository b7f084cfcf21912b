import { spawnSync } from 'node:child_process';

/** What a soak runs in full; `npm test` runs a sample. See docs/reliability.md. */
export const SOAK = process.env.GPUCLOUD_SOAK !== undefined;

/** A count of the soak, from the environment. */
export function countOf(variable: string, full: number): number {
  const given = Number(process.env[variable] ?? full);
  return Number.isInteger(given) && given > 0 ? given : full;
}

function works(command: string, argv: readonly string[]): boolean {
  return spawnSync(command, argv, { stdio: 'ignore' }).status === 0;
}

/** Some systems have strace and forbid its use. */
export const HAS_STRACE = works('strace', ['-f', '-qq', '-o', '/dev/null', 'true']);
export const HAS_PRLIMIT = works('prlimit', ['--version']);
export const HAS_SCRIPT = works('script', ['-qec', 'true', '/dev/null']);
export const HAS_BASH = works('bash', ['-c', 'true']);

/**
 * Every nth of a list, always the same ones. The step is odd, since in a matrix an even one would
 * meet the same columns over and over.
 */
export function sample<T>(items: readonly T[], most: number): readonly T[] {
  const even = Math.ceil(items.length / Math.max(1, most));
  const step = even <= 1 ? 1 : even % 2 === 0 ? even + 1 : even;
  const first = Math.floor(step / 2);
  return items.filter((_item, at) => at % step === first);
}
