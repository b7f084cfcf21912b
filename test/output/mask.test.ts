import { describe, expect, it } from 'vitest';
import { masked as maskedForTrace } from '../../src/api/response/secrets.ts';
import { mask, withoutOwn } from '../../src/output/mask.ts';
import { EVERY_SECRET, SECRETS } from '../../src/rules/secrets.ts';

const M = '********';
const PATHS = ['connection_info.secrets', 'docker_config.env[].value', 'metadata'];

function masked(value: unknown, paths: readonly string[] = PATHS): unknown {
  return mask(value, paths, false);
}

it.each(EVERY_SECRET)('masks %s in the output and in the trace', (path) => {
  const steps = path.split('.').reverse();
  const value = steps.reduce<unknown>((inner, step) => {
    const name = step.replace('[]', '');
    return { [name]: step === name ? inner : [inner] };
  }, 'canary');
  expect(JSON.stringify(value)).toContain('canary');
  expect(JSON.stringify(mask(value, EVERY_SECRET, false))).not.toContain('canary');
  expect(JSON.stringify(maskedForTrace(value))).not.toContain('canary');
});

describe('mask', () => {
  it('masks every leaf under a path, and keeps keys, null and empty values', () => {
    const secrets = { a: 'x', b: { c: 12, d: true, e: null, f: '', g: [] }, h: ['y', { i: 'z' }] };
    expect(masked({ connection_info: { type: 'template', secrets } })).toEqual({
      connection_info: {
        type: 'template',
        secrets: { a: M, b: { c: M, d: M, e: null, f: '', g: [] }, h: [M, { i: M }] },
      },
    });
  });

  it('masks one field of each list item', () => {
    const env = [{ key: 'A', value: '1' }, { key: 'B' }, { key: 'C', value: null }];
    expect(masked({ docker_config: { env } })).toEqual({
      docker_config: { env: [{ key: 'A', value: M }, { key: 'B' }, { key: 'C', value: null }] },
    });
  });

  it.each([
    [
      'a list instead of an object',
      { connection_info: [{ secrets: ['a'] }] },
      { connection_info: [{ secrets: [M] }] },
    ],
    [
      'an object instead of a list',
      { docker_config: { env: { A: '1' } } },
      { docker_config: { env: { A: M } } },
    ],
    [
      'texts instead of objects',
      { docker_config: { env: ['A=1', null] } },
      { docker_config: { env: [M, null] } },
    ],
    ['a text above the path', { docker_config: '{"env":[]}' }, { docker_config: M }],
    ['a number leaf', { metadata: 5 }, { metadata: M }],
    ['false', { metadata: false }, { metadata: M }],
    ['null', { metadata: null, connection_info: null }, { metadata: null, connection_info: null }],
    ['a missing path', { id: '1' }, { id: '1' }],
    ['lists in lists', { metadata: [[['a']]] }, { metadata: [[[M]]] }],
    ['a text as the whole value', 'text', M],
    ['null at the top', null, null],
  ])('masks a field of any shape: %s', (_what, value, expected) => {
    expect(masked(value)).toEqual(expected);
  });

  it('masks a secret wherever the row repeats it, even URL-encoded in a link', () => {
    const row = {
      connection_info: {
        secrets: { token: 'tok+en/1', pin: 123456, short: 'abc' },
        endpoints: ['http://h/?token=tok+en/1&x', 'http://h/?token=tok%2Ben%2F1', 'abc'],
      },
      failure_reason: 'pin 123456',
      count: 123456,
    };
    expect(masked(row)).toEqual({
      connection_info: {
        secrets: { token: M, pin: M, short: M },
        endpoints: [`http://h/?token=${M}&x`, `http://h/?token=${M}`, 'abc'],
      },
      failure_reason: `pin ${M}`,
      count: 123456,
    });
  });

  it('searches only for secrets of at least six characters', () => {
    const row = { metadata: { a: '12345', b: '654321' }, message: 'port 12345 and 654321' };
    expect(masked(row)).toMatchObject({ message: `port 12345 and ${M}` });
  });

  it('masks a secret in a run command', () => {
    const row = { metadata: { token: 'secret-1' }, run_command: 'serve --token secret-1' };
    expect(masked(row)).toMatchObject({ run_command: `serve --token ${M}` });
  });

  it('keeps IDs, times, amounts, addresses, images and paths that repeat a secret', () => {
    const values = [
      'my-box-1',
      '2026-11',
      '000000',
      '203.0.113.1',
      'nginx:latest',
      '/workspace',
      '299.95',
    ];
    const row = {
      id: '40904090-0000-4000-8000-000000000001',
      name: 'my-box-1',
      paid_until: '2026-11-21T00:00:00Z',
      ip_address: '203.0.113.1',
      price_per_hour_snapshot: '299.95',
      docker_config: {
        image: 'nginx:latest',
        env: values.map((value, at) => ({ key: `K${at}`, value })),
        volumes: [{ container_path: '/workspace' }],
      },
    };
    expect(masked(row)).toEqual({
      ...row,
      docker_config: {
        ...row.docker_config,
        env: values.map((_, at) => ({ key: `K${at}`, value: M })),
      },
    });
  });

  it('masks a secret anywhere in a link except in the host', () => {
    const row = {
      metadata: { t: 'abc-123', host: 'h.example.com' },
      url: 'https://h.example.com/x?t=abc-123#abc-123',
    };
    expect(masked(row)).toMatchObject({ url: `https://h.example.com/x?t=${M}#${M}` });
    const note = 'see https://h.example.com/x?t=abc-123';
    expect(masked({ metadata: 'abc-123', failure_reason: note })).toMatchObject({
      failure_reason: `see https://h.example.com/x?t=${M}`,
    });
    expect(masked({ metadata: 'abc-123', where: 'http://me:abc-123@h/' })).toMatchObject({
      where: `http://me:${M}@h/`,
    });
  });

  it('does not change the masked row itself', () => {
    const row = { metadata: { token: 'secret-1' }, message: 'secret-1' };
    const before = structuredClone(row);
    masked(row);
    expect(row).toEqual(before);
  });

  it('keeps a key named __proto__ as data', () => {
    const row: unknown = JSON.parse(
      '{"__proto__": {"x": "1"}, "metadata": {"__proto__": "secret"}}',
    );
    expect(JSON.stringify(masked(row))).toBe(
      `{"__proto__":{"x":"1"},"metadata":{"__proto__":"${M}"}}`,
    );
  });

  it('returns the same object if nothing is masked', () => {
    const row = { metadata: 'secret' };
    expect(mask(row, PATHS, true)).toBe(row);
    expect(mask(row, [], false)).toBe(row);
    const empty = {
      metadata: null,
      docker_config: { env: '', image: 'nginx' },
      connection_info: {},
    };
    expect(mask(empty, PATHS, false)).toBe(empty);
  });

  it('masks a password in every text, and other secrets only in links and free text', () => {
    const row = {
      jupyter_password: 'swordfish',
      jupyter_token: 'herring-7',
      name: 'swordfish of herring-7',
      message: 'swordfish of herring-7',
      tags: [['swordfish', 'herring-7']],
    };
    expect(masked(row, ['jupyter_password', 'jupyter_token'])).toEqual({
      jupyter_password: M,
      jupyter_token: M,
      name: `${M} of herring-7`,
      message: `${M} of ${M}`,
      tags: [[M, 'herring-7']],
    });
  });
});

it('masks a plain word of metadata only in its own field', () => {
  const row = {
    metadata: { env: 'production', token: 'abc123xyz' },
    message: 'production abc123xyz',
  };
  expect(mask(row, ['metadata'], false)).toEqual({
    metadata: { env: M, token: M },
    message: `production ${M}`,
  });
  expect(
    mask({ secrets: { pw: 'swordfish' }, link: 'http://h/?t=swordfish' }, ['secrets'], false).link,
  ).toBe(`http://h/?t=${M}`);
});

describe('secrets by name', () => {
  it('masks a header or key at any depth, and repeats of it', () => {
    const payload = { request: [{ headers: { 'X-API-KEY': 'other-key-1', Accept: 'json' } }] };
    const row = { message: 'sent other-key-1', payload };
    const expected = {
      message: `sent ${M}`,
      payload: { request: [{ headers: { 'X-API-KEY': M, Accept: 'json' } }] },
    };
    expect(mask(row, SECRETS.event, false)).toEqual(expected);
    expect(mask(row, SECRETS.event, true)).toBe(row);
    expect(maskedForTrace({ payload })).toEqual({ payload: expected.payload });
  });

  it.each([
    [
      'user:token-1@registry.example.com/team/image:2',
      `user:${M}@registry.example.com/team/image:2`,
    ],
    [
      'https://user:token-1@registry.example.com/image',
      `https://user:${M}@registry.example.com/image`,
    ],
    [`nvidia/cuda:12@sha256:${'a'.repeat(64)}`, `nvidia/cuda:12@sha256:${'a'.repeat(64)}`],
    [`ubuntu:22.04@sha256:${'a'.repeat(64)}`, `ubuntu:22.04@sha256:${'a'.repeat(64)}`],
    ['localhost:5000/image:tag', 'localhost:5000/image:tag'],
    ['user:pass/word@registry.example.com/image', `user:${M}@registry.example.com/image`],
    ['user:p@ssword@registry.example.com/image', `user:${M}@registry.example.com/image`],
    ['token-1@registry.example.com/image', `${M}@registry.example.com/image`],
  ])('masks only the password in the image %s', (image, shown) => {
    expect(mask({ docker_config: { image } }, SECRETS.instance, false)).toEqual({
      docker_config: { image: shown },
    });
    expect(maskedForTrace({ docker_config: { image } })).toEqual({
      docker_config: { image: shown },
    });
  });

  it('masks a command, and repeats of it unless it is one word', () => {
    const found = new Set<string>();
    const config = (run_command: string) => ({ docker_config: { run_command } });
    expect(maskedForTrace(config('serve --token abc'), found)).toEqual(config(M));
    expect(maskedForTrace(config('jupyter'), found)).toEqual(config(M));
    expect([...found]).toEqual(['serve --token abc']);
    const row = { ...config('jupyter'), failure_reason: 'jupyter failed' };
    expect(mask(row, SECRETS.instance, false)).toEqual({
      ...config(M),
      failure_reason: 'jupyter failed',
    });
  });

  it.each([
    ['objects', (inner: unknown) => ({ a: inner })],
    ['lists', (inner: unknown) => [inner]],
  ])('masks what is below 60 %s', (_what, around) => {
    const nested = (levels: number, inner: unknown): unknown =>
      levels === 0 ? inner : around(nested(levels - 1, inner));
    expect(mask(nested(60, {}), SECRETS.event, false)).toEqual(nested(60, {}));
    expect(mask(nested(61, {}), SECRETS.event, false)).toEqual(nested(61, M));
  });

  it('copies no row without such a field', () => {
    const row = { a: { b: [1, { c: 'd' }] } };
    expect(mask(row, SECRETS.event, false)).toBe(row);
  });
});

describe('withoutOwn', () => {
  it('hides the own key in every text, and copies only a row that holds it', () => {
    const keys = new Set(['svc_sk_own_0001']);
    const row = { name: 'key svc_sk_own_0001', tags: [{ svc_sk_own_0001: 1 }], n: 1 };
    expect(withoutOwn(row, keys)).toEqual({ name: `key ${M}`, tags: [{ [M]: 1 }], n: 1 });
    expect(withoutOwn({ svc_sk_own_0001: 1 }, keys)).toEqual({ [M]: 1 });
    const other = { key_prefix: 'svc_sk_own…' };
    expect(withoutOwn(other, keys)).toBe(other);
  });
});
