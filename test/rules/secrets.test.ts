import { expect, test } from 'vitest';
import { masked } from '../../src/api/response/secrets.ts';
import {
  DEEPEST,
  hider,
  isPlain,
  MASK,
  maskLeaves,
  withoutKeys,
  withoutUserinfo,
} from '../../src/rules/secrets.ts';

test.each(['plain-secret', 'pa"ss', 'back\\slash', 'line\nbreak', 'üñí & more', 'lone\ud800'])(
  'masks the secret %j as plain text, in JSON and in a URL',
  (secret) => {
    const json = (text: string) => JSON.stringify({ password: text });
    const twice = (text: string) => JSON.stringify({ echo: json(text) });
    const link = `?p=${encodeURIComponent(secret.toWellFormed())}`;
    const shown = [secret, json(secret), twice(secret), link].map(hider([secret]));
    expect(shown).toEqual([MASK, json(MASK), twice(MASK), `?p=${MASK}`]);
  },
);

test('masks the longer of two secrets first', () => {
  const hide = hider(['secret1', 'secret1-more']);
  expect(hide('x secret1-more secret1 y')).toBe(`x ${MASK} ${MASK} y`);
});

test('masks an unregistered API key by its prefix', () => {
  expect(withoutKeys('no svc_sk_live_abc-DEF here')).toBe('no svc_sk_… here');
});

test('ignores an empty secret', () => {
  expect(hider([''])('text')).toBe('text');
});

test('masks each leaf up to the deepest level, and all below it at once', () => {
  const nested = (levels: number) =>
    JSON.parse(`${'{"a":'.repeat(levels)}"secret1"${'}'.repeat(levels)}`);
  for (const [levels, shown] of [
    [0, 0],
    [DEEPEST, DEEPEST],
    [DEEPEST + 1, DEEPEST + 1],
    [DEEPEST + 2, DEEPEST + 1],
  ] as const) {
    const found = new Set<string>();
    const masked = JSON.stringify(maskLeaves(nested(levels), found));
    expect(masked).toBe(`${'{"a":'.repeat(shown)}"${MASK}"${'}'.repeat(shown)}`);
    expect([...found]).toEqual(levels > DEEPEST ? [] : ['secret1']);
  }
});

test.each([
  ...['x-api-key', 'api_key', 'Authorization', 'proxy-authorization', 'cookie', 'set-cookie'],
  ...['secret_key', 'password', 'current_password', 'new_password', 'metadata', 'run_command'],
  ...['env', 'env_vars', 'secrets'],
])('masks the field %s of any object', (name) => {
  const found = new Set<string>();
  expect(masked({ deep: [{ [name]: 'hunter2 x' }] }, found)).toEqual({ deep: [{ [name]: MASK }] });
  expect([...found]).toEqual(['hunter2 x']);
});

test('keeps what can hold no secret', () => {
  expect(masked({ image_name: [7] })).toEqual({ image_name: [7] });
  const empty = { a: undefined, b: null, c: '' };
  expect(maskLeaves(empty, new Set())).toEqual(empty);
});

test.each([
  ['nginx', 'nginx', []],
  ['user:token-1@registry/image', `user:${MASK}@registry/image`, ['token-1']],
  ['token\n1@registry/image', `${MASK}@registry/image`, ['token\n1']],
  ['token-1@registry/image', `${MASK}@registry/image`, ['token-1']],
  ['https://user:short@registry/image', `https://user:${MASK}@registry/image`, []],
  ['user:p@ssword@registry/image', `user:${MASK}@registry/image`, ['p@ssword']],
  [`image@sha256:${'0'.repeat(32)}`, `image@sha256:${'0'.repeat(32)}`, []],
  [`image@sha256:${'0'.repeat(31)}`, `${MASK}@sha256:${'0'.repeat(31)}`, []],
])('masks the password of the image %s', (image, shown, secrets) => {
  const found = new Set<string>();
  expect(withoutUserinfo(image, found)).toBe(shown);
  expect([...found]).toEqual(secrets);
});

test.each([
  ['metadata', 'sandbox', true],
  ['instance.metadata', 'a1', false],
  ['metadata.x', 'sandbox', false],
  ['docker_config.run_command', 'python', true],
  ['run_command', 'python x', false],
  ['run_command.x', 'python', false],
  ['env_vars', 'sandbox', false],
])('whether the secret at %s, %j, is plain: %s', (path, secret, is) => {
  expect(isPlain(path, secret)).toBe(is);
});
