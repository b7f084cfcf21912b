import { expect, test, vi } from 'vitest';
import { newHostKey } from '../../src/sandbox/ssh/server.ts';
import { utils } from '../../src/sandbox/ssh/ssh2.ts';

test("creates another host key if the library can't parse its own", () => {
  const unreadable = { private: 'unreadable', public: '' };
  const create = vi.spyOn(utils, 'generateKeyPairSync').mockReturnValueOnce(unreadable);
  const key = newHostKey();
  expect(create).toHaveBeenCalledTimes(2);
  create.mockRestore();
  expect(utils.parseKey(key)).not.toBeInstanceOf(Error);
});
