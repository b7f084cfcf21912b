import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

test('limits the files to read first to existing files of at most 6,000 lines', () => {
  const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
  const [, list = ''] = page.split('## Files to read first\n');
  const files = [...list.matchAll(/\]\(\.\.\/(src\/[^)]+)\)/g)].map(([, file = '']) => file);
  expect(files.length).toBeGreaterThan(0);
  expect(new Set(files).size).toBe(files.length);
  const lines = files.map((file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1);
  expect(lines.reduce((sum, more) => sum + more, 0)).toBeLessThanOrEqual(6000);
});

test('finds no comment that names a missing file', () => {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  const names = new Set(files.map((file) => basename(file)));
  const gone = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const comments = readFileSync(join(ROOT, 'src', file), 'utf8').match(/^\s*(\*|\/[/*]).*/gm);
      const named = (comments ?? []).flatMap((line) => line.match(/[\w./-]+\.ts\b/g) ?? []);
      const beside = (path: string) => join(dirname(file), path);
      return named
        .filter((path) => (path.includes('/') ? !isThere(path, beside(path)) : !names.has(path)))
        .map((path) => `src/${file} names ${path}`);
    });
  function isThere(path: string, near: string): boolean {
    return [path.replace(/^src\//, ''), near].some((one) => files.includes(one));
  }
  expect(gone).toEqual([]);
});
