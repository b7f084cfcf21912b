import { expect, test } from 'vitest';
import { newHostKey } from '../../src/sandbox/ssh/server.ts';
import { utils } from '../../src/sandbox/ssh/ssh2.ts';

test('creates only host keys that the server can parse', () => {
  const keys = Array.from({ length: 2500 }, newHostKey);
  expect(keys.filter((key) => utils.parseKey(key) instanceof Error)).toEqual([]);
});
