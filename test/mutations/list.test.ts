import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { expect, test } from 'vitest';
import { MUTATIONS, mutated, sourceOf } from './index.mjs';

// `npm run mutate` takes minutes, so this checks its list against the source.

const TESTS = join(import.meta.dirname, '..');

test('matches the source of each mutation exactly once, and leaves a valid program', async () => {
  for (const mutation of MUTATIONS) {
    const source = readFileSync(sourceOf(mutation), 'utf8');
    await transform(mutated(source, mutation), { loader: 'ts' });
  }
});

test('lists only existing test files', () => {
  const missing = MUTATIONS.flatMap(({ tests }) => tests).filter(
    (name) => !existsSync(join(TESTS, name)) && !existsSync(join(TESTS, `${name}.test.ts`)),
  );
  expect(missing).toEqual([]);
});

test('rejects a search text that occurs twice or never', () => {
  const [mutation] = MUTATIONS;
  if (mutation === undefined) throw new Error('there are no mutations');
  expect(() => mutated('a;', { ...mutation, search: 'b' })).toThrow('0 times');
  expect(() => mutated('a; a;', { ...mutation, search: 'a' })).toThrow('2 times');
});
