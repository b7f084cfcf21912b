import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { sshPublicKey } from '../support/ssh-key.ts';
import { bench, MINUTE } from './support.ts';

const [ED25519, OTHER, RSA] = [
  sshPublicKey('ssh-ed25519'),
  sshPublicKey('ssh-ed25519'),
  sshPublicKey('ssh-rsa'),
];

describe('creating and listing SSH keys', () => {
  test.each([
    ['without a comment', RSA],
    ['with a comment', `${ED25519} me@box with blanks`],
  ])('accepts an SSH key %s', async (_, public_key) => {
    const b = await bench();
    const reply = await b.call('POST', '/ssh-keys', {
      name: 'mine',
      public_key: `${public_key}\n`,
    });
    expect(reply.body).toEqual({
      status: 'success',
      code: 201,
      data: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'mine',
        public_key,
        fingerprint: expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/),
        is_default: false,
        created_at: '2026-03-01T12:00:00.000Z',
        updated_at: '2026-03-01T12:00:00.000Z',
      },
    });
  });

  test('computes the fingerprint of an SSH key that GitHub publishes', async () => {
    const b = await bench();
    const reply = await b.call('POST', '/ssh-keys', {
      name: 'github',
      public_key:
        'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl',
    });
    // GitHub publishes this pair of host key and fingerprint.
    expect(reply.data.fingerprint).toBe('SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU');
  });

  test('rejects what is not one public key', async () => {
    const b = await bench();
    for (const public_key of ['', ED25519.slice(0, -8), `${ED25519}\n${OTHER}`])
      await b.call('POST', '/ssh-keys', { name: 'bad', public_key });
    expect((await b.call('GET', '/ssh-keys')).list).toEqual([]);
  });

  test('lists SSH keys newest first, and replaces the old default', async () => {
    const b = await bench();
    await b.call('POST', '/ssh-keys', { name: 'one', public_key: ED25519, is_default: true });
    await b.sandbox.advance(MINUTE);
    await b.call('POST', '/ssh-keys', { name: 'two', public_key: OTHER, is_default: true });
    await b.call('POST', '/ssh-keys', { name: 'three', public_key: RSA });
    const list = (await b.call('GET', '/ssh-keys')).list;
    expect(list.map((key) => [key.name, key.is_default])).toEqual([
      ['three', false],
      ['two', true],
      ['one', false],
    ]);
    expect(list[2]?.updated_at).toBe('2026-03-01T12:01:00.000Z');
  });

  test('rejects a duplicate SSH key name or key with 409', async () => {
    const b = await bench();
    await b.call('POST', '/ssh-keys', { name: 'one', public_key: ED25519 });
    await b.call('POST', '/ssh-keys', { name: 'one', public_key: OTHER });
    await b.call('POST', '/ssh-keys', { name: 'two', public_key: `${ED25519} again` });
    expect((await b.call('GET', '/ssh-keys')).list).toHaveLength(1);
  });

  test("responds to a key's deletion without data, then with 404 in Shape B", async () => {
    const b = await bench();
    const key = await b.call('POST', '/ssh-keys', { name: 'one', public_key: ED25519 });
    const gone = await b.call('DELETE', `/ssh-keys/${key.data.id}`);
    expect([gone.status, gone.body]).toEqual([200, { status: 'success', code: 200 }]);
    const again = await b.call('DELETE', `/ssh-keys/${key.data.id}`);
    expect([again.status, again.body]).toEqual([
      404,
      { statusCode: 404, code: 'NOT_FOUND', message: `SSH key ${key.data.id} not found` },
    ]);
  });
});

describe('creating API keys', () => {
  test('returns a working token once and never stores it', async () => {
    const b = await bench();
    const reply = await b.call('POST', '/api-keys', { name: 'ci' });
    expect(reply.status).toBe(201);
    const token = String(reply.data.secret_key);
    expect(token).toMatch(/^svc_sk_sandbox_[0-9a-f]{40}$/);
    expect(reply.data).toEqual({
      id: expect.any(String),
      name: 'ci',
      key_prefix: token.slice(0, 19),
      secret_key: token,
      is_active: true,
      expires_at: null,
      last_used_at: null,
      created_at: '2026-03-01T12:00:00.000Z',
      updated_at: '2026-03-01T12:00:00.000Z',
    });
    expect(await readFile(b.file, 'utf8')).not.toContain(token);

    await b.sandbox.advance(90_000);
    expect((await b.call('GET', '/users/me', undefined, token)).status).toBe(200);
    const list = (await b.call('GET', '/api-keys')).list;
    expect(list.map((key) => key.name)).toEqual(['ci', 'built-in']);
    expect(list[0]).toMatchObject({
      key_prefix: `${token.slice(0, 19)}...`,
      last_used_at: '2026-03-01T12:01:00.000Z',
    });
    for (const key of list) {
      expect(key).not.toHaveProperty('secret_key');
    }
  });

  test('limits API key names to 50 characters', async () => {
    const b = await bench();
    for (const length of [50, 51, 0])
      await b.call('POST', '/api-keys', { name: 'x'.repeat(length) });
    expect((await b.call('GET', '/api-keys')).list).toHaveLength(2);
    expect((await b.sandbox.status()).counts).toEqual({
      ...{ instances: {}, drives: {}, ssh_keys: 0, api_keys: 2, transactions: 2 },
    });
  });
});
