import { expect, test, vi } from 'vitest';
import { newHostKey } from '../../src/sandbox/ssh/server.ts';
import { utils } from '../../src/sandbox/ssh/ssh2.ts';

test("creates another host key if the library can't parse its own", () => {
  const readable = newHostKey();
  expect(utils.parseKey(readable)).not.toBeInstanceOf(Error);
  const create = vi
    .spyOn(utils, 'generateKeyPairSync')
    .mockReturnValueOnce({ private: 'unreadable', public: '' })
    .mockReturnValueOnce({ private: readable, public: '' });
  expect(newHostKey()).toBe(readable);
  create.mockRestore();
});
