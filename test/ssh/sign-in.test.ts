import { expect, test } from 'vitest';
import { chooseKey } from '../../src/ssh/sign-in.ts';

const [A, B] = [{ id: 'a' }, { id: 'b' }];
const held = { key: A, isHeld: true } as const;
const file = { key: A, file: '/a' };
const locked = { ...file, isLocked: true } as const;
const byAgent = { key: A, file: undefined, needs: 'agent' };

test.each([
  ['no key', [], undefined],
  ['a file', [file], { ...file, needs: 'nothing' }],
  ['a file that the agent holds too', [held, file], { ...file, needs: 'nothing' }],
  ['a file after a key in the agent', [{ ...held, key: B }, file], { ...file, needs: 'nothing' }],
  ['a key in the agent', [held], byAgent],
  ['a locked file that the agent holds', [held, locked], { ...file, needs: 'agent' }],
  ['a locked file of another key', [held, { ...locked, key: B, file: '/b' }], byAgent],
  ['a locked file', [locked], { ...file, needs: 'passphrase' }],
  ['a hidden public key', [{ key: B }, locked], { key: B, needs: 'nothing' }],
] as const)('chooses among the private keys: %s', (_what, halves, choice) => {
  expect(chooseKey(halves)).toEqual(choice);
});
