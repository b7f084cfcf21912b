import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const FILES = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

/** Returns the files that match the pattern, without the exceptions. */
function having(pattern: RegExp, ...except: string[]): string[] {
  return FILES.filter(({ path, text }) => !except.includes(path) && pattern.test(text)).map(
    ({ path }) => path,
  );
}

test('skips tests only with needs()', () => {
  const skip = /\b(test|it|describe|task|context|ctx)\.(skip|skipIf|runIf|todo)\(/;
  expect(having(skip)).toEqual([]);
});

test("takes random numbers only from the run's seed", () => {
  const own = 'architecture/tests.test.ts';
  expect(having(/Math\.random|from 'fast-check'/, 'support/random.ts', own)).toEqual([]);
});

test('limits test files to 500 lines', () => {
  const long = FILES.filter(({ text }) => text.split('\n').length > 501);
  expect(long.map(({ path }) => path)).toEqual([]);
});
