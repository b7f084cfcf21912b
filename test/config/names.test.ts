import { expect, test } from 'vitest';
import { profileName } from '../../src/config/file.ts';

test.each(['a', 'work', 'A.b_c-9', '0', '_x', '.x', '__proto__', 'constructor', 'x'.repeat(50)])(
  'accepts the profile name %s',
  (name) => {
    expect(profileName(name)).toEqual({ ok: true, value: name });
  },
);

test.each([
  ['', 'must not be empty'],
  ['x'.repeat(51), 'at most 50'],
  ['a b', 'letters, digits'],
  ['a/b', 'letters, digits'],
  ['имя', 'letters, digits'],
  ['a\n', 'letters, digits'],
  ['a\u001b[31m', 'letters, digits'],
  ['-x', 'must not start with "-"'],
  ['sandbox', 'built in'],
  ['Sandbox', 'built in'],
  ['SANDBOX', 'built in'],
])('rejects the profile name %j', (name, words) => {
  const verdict = profileName(name);
  expect(verdict.ok ? 'kept' : verdict.rule).toContain(words);
});
