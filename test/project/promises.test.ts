import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

test('names an existing test for each promise', () => {
  const page = readFileSync(join(ROOT, 'docs/internals/promises.md'), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| [^|]+ \| /.test(line));
  const untested = rows.filter((row) => {
    const files = [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file);
    const heads = row.endsWith('| tested in |');
    return !heads && (files.length === 0 || !files.every((file) => existsSync(join(ROOT, file))));
  });
  expect(rows.length).toBeGreaterThan(50);
  expect(untested).toEqual([]);
});
