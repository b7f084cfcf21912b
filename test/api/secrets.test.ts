import { expect, test } from 'vitest';
import { hidden } from '../../src/api/response/secrets.ts';

test.each(['plain-secret', 'pa"ss', 'back\\slash', 'line\nbreak', 'üñí & more', 'lone\ud800'])(
  'hides the secret %j in each of its spellings',
  (secret) => {
    const json = JSON.stringify({ password: secret });
    const twice = JSON.stringify({ echo: json });
    const link = `?p=${encodeURIComponent(secret.toWellFormed())}`;
    for (const text of [secret, json, twice, link]) {
      const left = hidden(text, [secret]);
      expect(left).toContain('***');
      expect(left).not.toContain(secret);
      expect(left).not.toContain(JSON.stringify(secret).slice(1, -1));
    }
  },
);

test('hides the longer of two secrets first', () => {
  expect(hidden('x secret1-more secret1 y', ['secret1', 'secret1-more'])).toBe('x *** *** y');
});

test('hides what looks like an API key, even if it was not registered', () => {
  expect(hidden('no svc_sk_live_abc-DEF here', [])).toBe('no svc_sk_*** here');
});
