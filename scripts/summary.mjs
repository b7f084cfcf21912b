import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Lists the tests skipped because something is missing: `not tested here: SSH (no sshd) 53, zsh
 * 12`.
 */
export function skipsLine(lacks) {
  const counts = new Map();
  for (const lack of lacks) counts.set(lack, (counts.get(lack) ?? 0) + 1);
  const parts = [...counts].sort((a, b) => b[1] - a[1]).map(([lack, count]) => `${lack} ${count}`);
  return `not tested here: ${parts.length === 0 ? 'nothing' : parts.join(', ')}`;
}

/** Errors outside any test fail a run, but no result names them. */
export const ERRORS = 'coverage/errors.log';

/** Prints the random tests' seed and the skipped tests after a Vitest run. Keeps errors outside tests. */
export default class Summary {
  onTestRunEnd(modules, errors) {
    if (errors.length > 0) mkdirSync(dirname(ERRORS), { recursive: true });
    for (const { message, stack } of errors) appendFileSync(ERRORS, `${stack ?? message}\n`);
    const skipped = modules.flatMap(({ children }) => [...children.allTests('skipped')]);
    const lacks = skipped.map((test) => test.meta().lacks).filter((lack) => lack !== undefined);
    console.log(`random tests: GPUCLOUD_SEED=${process.env.GPUCLOUD_SEED}`);
    console.log(skipsLine(lacks));
  }
}
