import { expect, test } from 'vitest';
import { DEEPEST, hider, MASK, maskLeaves, withoutKeys } from '../../src/rules/secrets.ts';

test.each(['plain-secret', 'pa"ss', 'back\\slash', 'line\nbreak', 'üñí & more', 'lone\ud800'])(
  'masks the secret %j as plain text, in JSON and in a URL',
  (secret) => {
    const json = JSON.stringify({ password: secret });
    const twice = JSON.stringify({ echo: json });
    const link = `?p=${encodeURIComponent(secret.toWellFormed())}`;
    for (const text of [secret, json, twice, link]) {
      const left = hider([secret])(text);
      expect(left).toContain(MASK);
      expect(left).not.toContain(secret);
      expect(left).not.toContain(JSON.stringify(secret).slice(1, -1));
    }
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
