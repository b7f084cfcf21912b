import { putIn, runIn } from './tree.mjs';

const LIMIT_MS = 10 * 60_000;

/**
 * Returns a function that takes faults in different files, and returns those that the type check or
 * the linter finds.
 */
export function checkIn(copy) {
  /** Returns the files with errors while all these faults are in the copy. */
  async function filesWithErrors(faults) {
    const restore = putIn(copy, faults);
    const files = faults.map(({ file }) => file);
    const types = await runIn(
      copy,
      ['node_modules/.bin/tsc', '--noEmit', '--pretty', 'false'],
      LIMIT_MS,
    );
    const lint = await runIn(
      copy,
      [
        ...['node_modules/.bin/biome', 'lint', '--vcs-enabled=false', '--reporter=github'],
        ...['--diagnostic-level=error', ...files],
      ],
      LIMIT_MS,
    );
    restore();
    const found = new Set();
    for (const [, file] of types.output.matchAll(/^(\S+)\(\d+,\d+\): error TS/gm)) found.add(file);
    for (const [, file] of lint.output.matchAll(/^::error .*?file=([^,]+),/gm)) found.add(file);
    if (found.size === 0 && types.code !== 0)
      throw new Error(`the type check failed: ${types.output}`);
    if (found.size === 0 && lint.code !== 0) throw new Error(`the linter failed: ${lint.output}`);
    return found;
  }

  return async function rejects(faults) {
    if (faults.length === 0) return new Set();
    const files = await filesWithErrors(faults);
    const rejected = faults.filter(({ file }) => files.delete(file));
    if (files.size === 0) return new Set(rejected);
    // A fault can also make another file wrong. That shows once these faults are gone.
    if (faults.length === 1) return new Set(faults);
    const rest = faults.filter((fault) => !rejected.includes(fault));
    const parts =
      rejected.length > 0
        ? [rest]
        : [rest.slice(0, rest.length >> 1), rest.slice(rest.length >> 1)];
    for (const part of parts) rejected.push(...(await rejects(part)));
    return new Set(rejected);
  };
}
