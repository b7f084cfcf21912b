import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../../src/errors.ts';
import { publicKey } from '../../../src/rules/public-key.ts';
import {
  createSandboxWorld,
  createWorld,
  type SandboxWorld,
  TEST_KEY,
  type World,
} from '../../support/run-cli.ts';
import { sent } from '../../support/service.ts';
import { sshPublicKey } from '../../support/ssh-key.ts';
import { until } from '../../support/until.ts';

const ED25519 = sshPublicKey('ssh-ed25519');
const RSA = sshPublicKey('ssh-rsa');

function fingerprintOf(line: string): string {
  const verdict = publicKey(line);
  if (!verdict.ok) throw new Error(verdict.rule);
  return verdict.value.fingerprint;
}

async function fileIn(world: World, name: string, text: string): Promise<string> {
  const path = join(world.home, name);
  await writeFile(path, text);
  return path;
}

describe('in the sandbox', () => {
  let world: SandboxWorld;
  beforeEach(async () => {
    world = await createSandboxWorld();
  });

  test('adds, lists, shows and deletes a key', async () => {
    const file = await fileIn(world, 'id_ed25519.pub', `${ED25519} me@laptop\n`);
    const added = await world.cli(['ssh-keys', 'add', file, '--default', '--json']);
    const key = JSON.parse(added.stdout);
    expect(key).toEqual({
      id: expect.any(String),
      name: 'me@laptop',
      public_key: `${ED25519} me@laptop`,
      fingerprint: fingerprintOf(ED25519),
      is_default: true,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect(sent(added.requests)).toEqual(['GET /ssh-keys', 'POST /ssh-keys']);
    expect(added.requests[1]?.body).toEqual({
      name: 'me@laptop',
      public_key: `${ED25519} me@laptop`,
      is_default: true,
    });

    const list = await world.cli(['ssh-keys', 'ls']);
    expect(list.stdout).toMatch(/me@laptop +\S+ +ssh-ed25519 +SHA256:\S+ +yes /);

    for (const named of [key.id, 'me@laptop', key.fingerprint]) {
      const got = await world.cli(['ssh-key', 'get', named]);
      expect([got.code, got.stdout]).toEqual([
        0,
        expect.stringContaining(`Public key:   ${ED25519} me@laptop\n`),
      ]);
    }

    await world.cli(['ssh-keys', 'rm', key.fingerprint, '--yes', '-o', 'id']);
    await world.cli(['ssh-keys', 'list', '--json']);
    await world.cli(['ssh-keys', 'list']);
  });

  test('exits with 5 for an existing key with --default, and with 0 without it', async () => {
    const first = await world.cli(['ssh-keys', 'add', '-', '--name', 'one', '-q'], {
      stdin: `${ED25519} a@b`,
    });
    const again = await world.cli(
      ['ssh-keys', 'add', '-', '--name', 'two', '--default', '-o', 'id'],
      {
        stdin: `${ED25519} another comment`,
      },
    );
    expect(sent(again.requests)).toEqual(['GET /ssh-keys']);
    const id = first.stdout.trim();
    const json = await world.cli(['ssh-keys', 'add', '-', '--default', '--json'], {
      stdin: `${ED25519} a@b`,
    });
    expect(JSON.parse(json.stderr).error).toMatchObject({ code: 'wrong_state', resource: id });
    await world.cli(['ssh-keys', 'add', '-', '-q'], { stdin: `${ED25519} a@b` });
  });

  test('names a key without a name by its ID, and deletes nothing without a name', async () => {
    const keys = { status: 200, body: { data: [{ id: 'k1', name: null, public_key: ED25519 }] } };
    const nameless = await createWorld({ handler: () => keys });
    for (const flags of [['--name', 'two'], ['--default']]) {
      await nameless.cli(['ssh-keys', 'add', '-', '-o', 'csv', ...flags], {
        stdin: `${ED25519} a`,
      });
    }
    await nameless.cli(['ssh-keys', 'delete', '-'], { stdin: '' });
    await nameless.close();
  });

  test('succeeds for the existing default key with --default', async () => {
    const add = () =>
      world.cli(['ssh-keys', 'add', '-', '--default', '-q'], { stdin: `${ED25519} a@b` });
    const first = await add();
    expect(await add()).toMatchObject({ code: 0, stdout: first.stdout });
  });

  test('uses --name or the file name as the name of the key', async () => {
    const file = await fileIn(world, 'work.pub', ED25519);
    await world.cli(['ssh-keys', 'add', file, '--columns', 'name', '--no-header']);
    await world.cli([
      ...['ssh-keys', 'add', await fileIn(world, 'rsa', `${RSA} x`)],
      ...['--name', 'Рабочий ключ', '--columns', 'name', '--no-header'],
    ]);
  });

  test('deletes all given SSH keys, or none of them if one is unknown', async () => {
    for (const [name, line] of [
      ['one', ED25519],
      ['two', RSA],
    ] as const) {
      await world.cli(['ssh-keys', 'add', '-', '--name', name], { stdin: line });
    }
    const missing = await world.cli(['ssh-keys', 'delete', 'one', 'three', '--yes']);
    expect(sent(missing.requests)).toEqual(['GET /ssh-keys']);
    await world.cli(['ssh-keys', 'delete', 'one', 'two'], {
      ...{ terminal: true, columns: 300, stdin: '\r' },
    });
    await world.cli(['ssh-keys', 'delete', 'one', 'two']);

    const both = await world.cli(['ssh-keys', 'delete', 'one', 'two', 'one', '-y', '--json']);
    expect(JSON.parse(both.stdout).map((key: { name: string }) => key.name)).toEqual([
      'one',
      'two',
    ]);
    expect(sent(both.requests)).toHaveLength(3);
  });

  test('asks before deleting, with No as the default', async () => {
    await world.cli(['ssh-keys', 'add', '-', '--name', 'one'], { stdin: ED25519 });
    const nobody = await world.cli(['ssh-keys', 'delete', 'one']);
    expect(nobody).toMatchObject({ code: 2, stdout: '', requests: [] });

    const no = await world.cli(['ssh-keys', 'delete', 'one'], { terminal: true, stdin: '\r' });
    expect(no.code).toBe(130);
    expect(sent(no.requests)).toEqual(['GET /ssh-keys']);
    const yes = await world.cli(['ssh-keys', 'delete', 'one'], { terminal: true, stdin: 'y\r' });
    expect(yes.code).toBe(0);
    expect(sent(yes.requests)).toContain('GET /ssh-keys');
    expect((await world.cli(['ssh-keys', 'list', '--json'])).stdout).toBe('[]\n');
  });

  test('lists the keys in ~/.ssh in a terminal', async () => {
    const env = { HOME: world.home };
    await mkdir(join(world.home, '.ssh'));
    await fileIn(world, '.ssh/broken.pub', ED25519.slice(0, -8));
    await fileIn(world, '.ssh/id_ed25519', 'not offered');
    await fileIn(world, '.ssh/id_ed25519.pub', `${ED25519} me@laptop`);
    const chosen = await world.cli(['ssh-keys', 'add', '--name', 'laptop', '--default', '--json'], {
      terminal: true,
      stdin: '\r',
      env,
    });
    expect(chosen.code).toBe(0);
    expect(chosen.stderr).not.toContain('broken');
    await fileIn(world, '.ssh/id_ed25519.pub', `${RSA} me@laptop`);
    const asked = await world.cli(['ssh-keys', 'add', '--json'], {
      terminal: true,
      typedAhead: true,
      stdin: '1\nrsa\nyes\n',
      env: { ...env, TERM: 'dumb' },
    });
    expect(JSON.parse(asked.stdout)).toMatchObject({ name: 'rsa', is_default: true });
  });

  test.each([
    ['exit 1', 1, 'error: ssh-keygen made no key (exit code 1).'],
    ['exec /bin/sleep 60', 130, 'Interrupted. Nothing was sent, so no key was added.'],
  ])('adds no key if ssh-keygen makes none: %s', async (script, code, said) => {
    const [bin, started] = [join(world.home, 'bin'), join(world.home, 'started')];
    await mkdir(bin);
    const text = `#!/bin/sh\n: >'${started}'\n${script}\n`;
    await writeFile(join(bin, 'ssh-keygen'), text, { mode: 0o755 });
    const first = new AbortController();
    const ended = world.cli(['ssh-keys', 'add'], {
      ...{ terminal: true, stdin: '\r', env: { HOME: world.home, PATH: bin, NO_COLOR: '1' } },
      interrupts: { first: first.signal, second: new AbortController().signal },
    });
    await until(() => existsSync(started));
    if (code === 130) first.abort(new CliError('interrupted', 'Interrupted.'));
    const { stderr, requests, ...rest } = await ended;
    expect({ ...rest, sent: sent(requests) }).toEqual({
      code,
      stdout: '',
      sent: ['GET /ssh-keys'],
    });
    expect(
      stripVTControlCharacters(stderr)
        .trimEnd()
        .split(/[\r\n]+/)
        .at(-1),
    ).toBe(said);
  });

  test('adds the key that ssh-keygen makes', async () => {
    await fileIn(world, 'ssh-keygen', `#!/bin/sh\necho '${ED25519}' "$@" >"$5.pub"\n`);
    await chmod(join(world.home, 'ssh-keygen'), 0o755);
    const { code } = await world.cli(['ssh-keys', 'add', '--name', 'new', '--default'], {
      ...{ terminal: true, stdin: '\r', env: { HOME: world.home, PATH: world.home } },
    });
    expect(code).toBe(0);
  });

  test('adds no key if ~/.ssh is not a folder', async () => {
    const ssh = await fileIn(world, '.ssh', '');
    const env = { HOME: world.home, NO_COLOR: '1' };
    const { code, stderr } = await world.cli(['ssh-keys', 'add'], {
      ...{ terminal: true, stdin: '\r', env },
    });
    expect(code).toBe(9);
    expect(stripVTControlCharacters(stderr).replace(/\s+/g, ' ')).toContain(
      ` error: Could not generate a key: ${ssh} is not a folder. hint: make ${ssh} a folder that you can write to `,
    );
  });

  test.each([
    ['it is not on PATH', undefined],
    ['Error: spawn ssh-keygen EACCES', 'not a program'],
  ])('adds no key without ssh-keygen: %s', async (why, text) => {
    if (text !== undefined) await fileIn(world, 'ssh-keygen', text);
    const env = { HOME: world.home, PATH: world.home };
    const { code, stderr, requests } = await world.cli(['ssh-keys', 'add'], {
      ...{ terminal: true, stdin: '\r', env },
    });
    expect({ code, sent: sent(requests) }).toEqual({ code: 1, sent: ['GET /ssh-keys'] });
    expect(
      stripVTControlCharacters(stderr)
        .trim()
        .split(/[\r\n]+/)
        .slice(-2),
    ).toEqual([
      `error: Could not start ssh-keygen: ${why}.`,
      'hint: install an OpenSSH client (openssh-client on Debian and Ubuntu)',
    ]);
  });

  test('does not prompt for a name if the key is already in the account', async () => {
    await mkdir(join(world.home, '.ssh'));
    await fileIn(world, '.ssh/id_ed25519.pub', `${ED25519} me@laptop`);
    await world.cli(['ssh-keys', 'add', '-', '--name', 'one'], { stdin: ED25519 });
    const { code, stderr } = await world.cli(['ssh-keys', 'add'], {
      terminal: true,
      stdin: '\r',
      env: { HOME: world.home },
    });
    expect(code).toBe(0);
    expect(stderr).toContain('This key is already in the account, as one');
    expect(stderr).not.toContain('Name');
  });
});

describe('bad input', () => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld({ handler: () => ({ status: 500 }) });
  });

  test.each([
    [['add'], '', 'error: FILE is missing: pass a public key file'],
    [
      ['add', '/nowhere/x.pub'],
      '',
      'error: FILE "/nowhere/x.pub": no such file\nhint: choose a key of this computer: gpucloud ssh-keys add; or create one: ssh-keygen -t ed25519\n',
    ],
    [['add', '/'], '', 'error: FILE "/": is a folder, not a file\nhint: choose a key'],
    [['add', '-'], 'hello', 'error: FILE "stdin": this is not an OpenSSH public key'],
    [['add', '-'], 'x'.repeat(2 ** 20 + 1), 'error: FILE "stdin": longer than 1 MiB\n'],
    [['add', '-'], ED25519.slice(0, -4), 'error: FILE "stdin": the key is incomplete or damaged\n'],
    [['add', '-'], ED25519, 'error: --name is required'],
    [['add', '-', '--name', ' '], ED25519, 'error: --name " ": must not be empty\n'],
    [['add', '-', '--name', 'a\nb'], ED25519, 'error: --name: must be one line'],
    [
      ['add', '-', '--nam', 'a'],
      ED25519,
      "error: unknown option '--nam'\nhint: see the options: gpucloud",
    ],
    [['add', '-', '--nam=svc'], ED25519, "error: unknown option '--nam'\nhint: "],
    [['add', 'a', 'b'], '', 'error: too many arguments: expected one FILE, got 2'],
    [['add', ED25519], '', 'error: FILE: must be a file, not the key itself'],
    [['delete'], '', 'error: missing argument: key'],
    [['get'], '', 'error: missing argument: key'],
  ])('rejects bad input (%#)', async (argv, stdin, message) => {
    const result = await world.cli(['ssh-keys', ...argv], { stdin });
    expect(result).toMatchObject({ code: 2, stdout: '', requests: [] });
    expect(result.stderr).toContain(message);
  });

  describe('a private key', () => {
    const pem = generateKeyPairSync('ed25519')
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString();
    const canary = pem.split('\n')[1] ?? '';

    test.each([
      ['in a file', (file: string) => ['add', file], undefined],
      ['on stdin', () => ['add', '-'], pem],
      ['as FILE', () => ['add', pem], undefined],
      ['as FILE after --', () => ['add', '--', pem], undefined],
      ['as FILE without its head', () => ['add', ` ${pem}`], undefined],
      ['as words', () => ['add', ...pem.split(/\s+/)], undefined],
      ['as a name', (file: string) => ['add', file, '--name', pem], undefined],
      ['as a flag', (file: string) => ['add', file, `--name=${pem}`], undefined],
      ['as KEY of get', () => ['get', '--', pem], undefined],
      ['as KEY of delete', () => ['delete', '--yes', '--', pem], undefined],
    ])('rejects a private key %s', async (_where, argv, stdin) => {
      const file = await fileIn(world, 'id_ed25519', pem);
      for (const json of [[], ['--json']]) {
        const result = await world.cli(
          [...json, 'ssh-keys', ...argv(file)],
          stdin === undefined ? {} : { stdin },
        );
        expect(result).toMatchObject({ code: 2, stdout: '', requests: [] });
        expect(result.stderr).not.toContain(canary);
        expect(result.stderr).toMatch(/private key|unknown option/);
      }
    });

    test('rejects a private key and suggests the public key file', async () => {
      const file = await fileIn(world, 'id_ed25519', pem);
      await fileIn(world, 'id_ed25519.pub', ED25519);
      const { stderr } = await world.cli(['ssh-keys', 'add', file]);
      expect(stderr).toContain(`\nhint: nothing was sent; the public key is in ${file}.pub\n`);
    });
  });

  test.each(['get', 'delete'])('rejects an API key in the stdin of %s', async (verb) => {
    await world.cli(['ssh-keys', verb, '-'], { stdin: `one\n${TEST_KEY}\n` });
  });

  test('rejects an API key in an argument without repeating it', async () => {
    for (const argv of [
      ['add', TEST_KEY],
      ['add', 'a.pub', TEST_KEY],
      ['add', '-', '--name', TEST_KEY],
      ['delete', '-y', TEST_KEY],
      ['delete', TEST_KEY],
      ['get', TEST_KEY],
    ]) {
      const result = await world.cli(['ssh-keys', ...argv], { stdin: ED25519 });
      expect(result).toMatchObject({ code: 2, requests: [] });
      expect(result.stderr).not.toContain(TEST_KEY);
      expect(result.stderr).toContain('this is an API key');
    }
  });
});

describe('ssh-keys', () => {
  test('finds a key by a unique ID prefix', async () => {
    const keys = [
      { id: '0a058147-8b32', name: 'one' },
      { id: '0a058147-9c00', name: 'two' },
    ];
    const world = await createWorld({
      handler: ({ method, path }) =>
        method === 'DELETE'
          ? { status: 200, body: { status: 'success', code: 200, path } }
          : { status: 200, body: { data: keys } },
    });
    const vague = await world.cli(['ssh-keys', 'delete', '0a058147', '-y']);
    expect(sent(vague.requests)).toEqual(['GET /ssh-keys']);
    const deleted = await world.cli(['ssh-keys', 'delete', '0A058147-9', '-y', '-q']);
    expect(deleted).toMatchObject({ code: 0, stdout: '0a058147-9c00\n' });
    expect(sent(deleted.requests)).toContain('DELETE /ssh-keys/0a058147-9c00');
  });

  test('rejects an ambiguous name, and finds a key by fingerprint', async () => {
    const world = await createWorld({
      handler: ({ method }) => ({
        status: 200,
        body: {
          data:
            method === 'POST'
              ? { id: 'k4', name: 'new' }
              : [
                  { id: 'k1', name: 'a', public_key: null, fingerprint: fingerprintOf(RSA) },
                  { id: 'k2', name: 'a' },
                  { id: 'k3', name: null, public_key: ED25519 },
                ],
        },
      }),
    });
    await world.cli(['ssh-keys', 'delete', 'a', '-y']);
    const other = sshPublicKey('ecdsa-sha2-nistp256');
    await world.cli(['ssh-keys', 'add', '-', '--name', 'new', '--default'], { stdin: other });
    const there = await world.cli(['ssh-keys', 'add', '-', '--name', 'a', '-q'], { stdin: RSA });
    expect(there).toMatchObject({ code: 0, stdout: 'k1\n' });
    await world.cli(['ssh-keys', 'add', '-', '--name', 'a'], { stdin: ED25519 });
  });

  test('deletes the remaining keys after one deletion fails', async () => {
    const world = await createWorld({
      handler: ({ method, path }) => {
        if (method === 'GET') return { status: 200, body: { data: [{ id: 'k1' }, { id: 'k2' }] } };
        return path.endsWith('k1')
          ? { status: 404, body: { statusCode: 404, code: 'NOT_FOUND', message: 'gone' } }
          : { status: 200, body: { status: 'success', code: 200 } };
      },
    });
    const result = await world.cli(['ssh-keys', 'delete', 'k1', 'k2', '--yes', '-q']);
    expect(result).toMatchObject({ code: 3, stdout: 'k2\n' });
    await world.cli(['ssh-keys', 'delete', '-', '--yes', '--json'], { stdin: 'k2\n' });
    await world.cli(['ssh-keys', 'delete', 'k1', '--yes']);
  });
});
