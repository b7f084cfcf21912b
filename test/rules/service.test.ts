import { expect, test } from 'vitest';
import { withoutEndSlash } from '../../src/rules/service.ts';

test.each([
  ['', ''],
  ['/', ''],
  ['a/', 'a'],
  ['/a//', '/a'],
  ['/a/b', '/a/b'],
  ['//a', '//a'],
])('removes the slashes at the end of %j: %j', (path, without) => {
  expect(withoutEndSlash(path)).toBe(without);
});
