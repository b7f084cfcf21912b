import { importsOf } from './nearest.mjs';
import { putIn, runIn } from './tree.mjs';

const count = (text, name) => text.split(name).length;

const LIMIT_MS = 10 * 60_000;

/**
 * Returns a function that takes faults in different files, and returns those that the type check or
 * the linter finds.
 */
export function checkIn(copy) {
  const imports = importsOf(copy);

  /** Returns the errors by file while all these faults are in the copy. */
  async function errorsWith(faults) {
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
    const found = new Map();
    for (const [, file, text] of types.output.matchAll(/^(\S+)\(\d+,\d+\): error (TS.*)/gm))
      found.set(file, `${found.get(file) ?? ''}${text}\n`);
    for (const [, file] of lint.output.matchAll(/^::error .*?file=([^,]+),/gm)) found.set(file, '');
    if (found.size === 0 && types.code !== 0)
      throw new Error(`the type check failed: ${types.output}`);
    if (found.size === 0 && lint.code !== 0) throw new Error(`the linter failed: ${lint.output}`);
    return found;
  }

  /** Separates the faults that removed a name in an error, or that an error imports, or halves. */
  function divided(faults, errors) {
    const names = [...errors.values()].flatMap((text) => text.match(/(?<=')\w+(?=')/g) ?? []);
    const imported = new Set([...errors.keys()].flatMap((file) => imports.get(file) ?? []));
    const named = faults.filter(({ before, after }) =>
      names.some((name) => count(before, name) > count(after, name)),
    );
    const suspects = named.length > 0 ? named : faults.filter(({ file }) => imported.has(file));
    if (suspects.length > 0 && suspects.length < faults.length)
      return [suspects, faults.filter((fault) => !suspects.includes(fault))];
    const half = faults.length >> 1;
    return [faults.slice(0, half), faults.slice(half)];
  }

  return async function rejects(faults) {
    if (faults.length === 0) return new Set();
    console.error(`type check and lint: ${faults.length} left`);
    const errors = await errorsWith(faults);
    const rejected = faults.filter(({ file }) => errors.delete(file));
    if (errors.size === 0) return new Set(rejected);
    // A fault can also make another file wrong. That shows once these faults are gone.
    if (faults.length === 1) return new Set(faults);
    const rest = faults.filter((fault) => !rejected.includes(fault));
    const parts = rejected.length > 0 ? [rest] : divided(rest, errors);
    for (const part of parts) rejected.push(...(await rejects(part)));
    return new Set(rejected);
  };
}
