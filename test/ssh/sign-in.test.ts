import { expect, test } from 'vitest';
import { chooseKey } from '../../src/ssh/sign-in.ts';

const [A, B] = [{ id: 'a' }, { id: 'b' }];
const isHeld = true;
const isLocked = true;

test.each([
  ['no key', [], undefined],
  ['a file', [{ key: A, file: '/a' }], { key: A, file: '/a', needs: 'nothing' }],
  [
    'a file that the agent holds too',
    [
      { key: A, isHeld },
      { key: A, file: '/a' },
    ],
    { key: A, file: '/a', needs: 'nothing' },
  ],
  [
    'a file after a key in the agent',
    [
      { key: B, isHeld },
      { key: A, file: '/a' },
    ],
    { key: A, file: '/a', needs: 'nothing' },
  ],
  ['a key in the agent', [{ key: A, isHeld }], { key: A, file: undefined, needs: 'agent' }],
  [
    'a locked file that the agent holds',
    [
      { key: A, isHeld },
      { key: A, file: '/a', isLocked },
    ],
    { key: A, file: '/a', needs: 'agent' },
  ],
  [
    'a locked file of another key',
    [
      { key: A, isHeld },
      { key: B, file: '/b', isLocked },
    ],
    { key: A, file: undefined, needs: 'agent' },
  ],
  [
    'a locked file',
    [{ key: A, file: '/a', isLocked }],
    { key: A, file: '/a', needs: 'passphrase' },
  ],
  [
    'a hidden public key',
    [{ key: B }, { key: A, file: '/a', isLocked }],
    { key: B, needs: 'nothing' },
  ],
] as const)('chooses among the private keys: %s', (_what, halves, choice) => {
  expect(chooseKey(halves)).toEqual(choice);
});
