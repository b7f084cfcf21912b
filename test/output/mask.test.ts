import { describe, expect, it } from 'vitest';
import { masked as maskedForTrace } from '../../src/api/response/secrets.ts';
import { mask } from '../../src/output/mask.ts';
import { EVERY_SECRET } from '../../src/rules/secrets.ts';

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

  it('masks the longer of two secrets first', () => {
    const row = {
      metadata: { a: 'secret1', b: 'secret1-more' },
      message: 'x secret1-more secret1 y',
    };
    expect(masked(row)).toMatchObject({ message: `x ${M} ${M} y` });
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
