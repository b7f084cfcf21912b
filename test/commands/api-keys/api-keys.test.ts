import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../../src/errors.ts';
import {
  createSandboxWorld,
  createWorld,
  type SandboxWorld,
  TEST_KEY,
  type World,
} from '../../support/run-cli.ts';
import { type Answer, ok, sent } from '../../support/service.ts';

const SECRET = 'svc_sk_live_abcdef0123456789';

/** Creates a service that lists and creates keys. `answer` replaces the response to a create. */
async function keyWorld(answer?: Answer | 'hangUp', env = {}): Promise<World> {
  const keys: Record<string, unknown>[] = [];
  const world = await createWorld({
    handler: ({ method, path, body }) => {
      if (path === '/users/me') {
        return { status: 200, body: { data: { id: 'u1', email: 'me@example.com', balance: '1' } } };
      }
      if (method === 'GET') return ok(keys);
      const key = {
        id: `key-${keys.length + 1}`,
        ...Object(body),
        key_prefix: 'svc_sk_live_abcd…',
      };
      keys.push(key);
      return answer ?? { status: 201, body: { data: { ...key, secret_key: SECRET, extra: true } } };
    },
  });
  return { ...world, env: { ...world.env, ...env } };
}

describe('in the sandbox', () => {
  let world: SandboxWorld;
  beforeEach(async () => {
    world = await createSandboxWorld();
  });

  test('creates a working key, and prints only its secret to stdout', async () => {
    const created = await world.cli(['api-keys', 'create', 'ci']);
    expect(created.stdout).toMatch(/^svc_sk_sandbox_[0-9a-f]+\n$/);
    expect(created.requests.map(({ body }) => body)).toEqual([{ name: 'ci' }]);

    const env = { GPUCLOUD_API_KEY: created.stdout.trim() };
    await world.cli(['api-keys', 'list'], { env });
    const json = await world.cli(['api-keys', 'list', '--json'], { env });
    expect(json.stdout).not.toContain(created.stdout.trim());
    expect(Object.keys(JSON.parse(json.stdout)[0])).not.toContain('in_use');
    await world.cli(['api-key', 'ls', '--columns', 'name,in_use', '--json']);
  });

  test('does not create an API key if stdout is closed or /dev/null, since its secret would be lost', async () => {
    for (const argv of [
      ['api-keys', 'create', 'ci'],
      ['api', 'POST', '/api-keys', '-f', 'name=ci', '--show-secrets'],
    ]) {
      const { code, requests } = await world.cli(argv, { isStdoutNull: true });
      expect({ code, requests }).toEqual({ code: 9, requests: [] });
    }
  });

  test("marks the sandbox's built-in key as in use, and rejects --save-profile", async () => {
    const env = { GPUCLOUD_API_KEY: undefined, GPUCLOUD_BASE_URL: undefined };
    const argv = ['--profile', 'sandbox', 'api-keys'];
    await world.cli([...argv, 'list', '--columns', 'name,in_use', '-o', 'csv'], {
      env,
    });
    const saved = await world.cli([...argv, 'create', 'ci', '--save-profile', 'work'], { env });
    expect(saved).toMatchObject({ code: 2, stdout: '' });
    expect((await world.cli([...argv, 'list', '-q'], { env })).stdout.trim().split('\n')).toEqual([
      expect.any(String),
    ]);
  });
});

describe('create', () => {
  let world: World;

  test("prints the new key's secret as a field in other formats", async () => {
    world = await keyWorld();
    const json = await world.cli(['api-keys', 'create', 'ci', '--json']);
    expect(JSON.parse(json.stdout)).toEqual({
      id: 'key-1',
      name: 'ci',
      key_prefix: 'svc_sk_live_abcd…',
      secret_key: SECRET,
      extra: true,
    });
    const csv = await world.cli(['api-keys', 'create', 'ci', '-o', 'csv']);
    expect(csv.stdout).toMatch(new RegExp(`^secret_key,name,.*\\n${SECRET},ci,key-2,`));
    const columns = ['--columns', 'id,secret_key', '--no-header'];
    await world.cli(['api-keys', 'create', 'ci', ...columns]);
  });

  test("stores the secret in a private file with --key-file, and doesn't print it to stdout", async () => {
    world = await keyWorld();
    const path = join(world.home, 'ci.key');
    const created = await world.cli(['api-keys', 'create', 'ci', '--key-file', path, '-o', 'id']);
    expect(created).toMatchObject({
      code: 0,
      stdout: 'key-1\n',
      stderr: `Created API key ci (key-1). Its secret is saved in ${path} (mode 0600).\n`,
    });
    expect(await readFile(path, 'utf8')).toBe(`${SECRET}\n`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);

    const again = await world.cli(['api-keys', 'create', 'ci', '--key-file', path]);
    expect(again).toMatchObject({ code: 2, stdout: '', requests: [] });
    const details = await world.cli([
      'api-keys',
      'create',
      'ci',
      '--key-file',
      join(world.home, 'b'),
    ]);
    expect(details.stdout + details.stderr).not.toContain(SECRET);
  });

  test('stores the key with its base URL and account with --save-profile', async () => {
    world = await keyWorld();
    const created = await world.cli([
      'api-keys',
      'create',
      'ci',
      '--save-profile',
      'work',
      '--json',
    ]);
    expect(sent(created.requests)).toEqual(['GET /users/me', 'POST /api-keys']);
    const config = JSON.parse(await readFile(join(world.home, 'config/config.json'), 'utf8'));
    expect(config.profiles.work).toEqual({
      base_url: world.service.url,
      api_key: SECRET,
      account: { id: 'u1', email: 'me@example.com', name: null },
    });
    expect(config.current).toBeUndefined();

    // The profile works without GPUCLOUD_API_KEY, and replacing its key needs consent.
    const env = { GPUCLOUD_API_KEY: undefined, GPUCLOUD_BASE_URL: undefined };
    const list = await world.cli(['--profile', 'work', 'api-keys', 'list', '--json'], { env });
    expect(list.requests[0]?.headers['x-api-key']).toBe(SECRET);
    const unasked = await world.cli(['api-keys', 'create', 'ci', '--save-profile', 'work']);
    expect(unasked).toMatchObject({ code: 2, stdout: '', requests: [] });
    const replaced = await world.cli(
      ['--profile', 'work', 'api-keys', 'create', 'ci', '--save-profile', 'work', '--yes'],
      { env },
    );
    expect(sent(replaced.requests)).toEqual(['GET /users/me', 'POST /api-keys']);
  });

  test('requires consent to change the base URL of a profile without a key', async () => {
    world = await keyWorld();
    const add = ['profiles', 'add', 'work', '--base-url', 'https://other.example'];
    expect((await world.cli(add)).code).toBe(0);
    const unasked = await world.cli(['api-keys', 'create', 'ci', '--save-profile', 'work']);
    expect(unasked).toMatchObject({ code: 2, requests: [] });
    await world.cli(['api-keys', 'create', 'ci', '--save-profile', 'work', '-y']);
  });

  test('prints a secret that could not be saved, and exits with 9', async () => {
    let made = 0;
    world = await createWorld({
      handler: async ({ path }) => {
        if (path === '/users/me') return { status: 200, body: { data: { id: 'u1' } } };
        // Makes the config file invalid while the request is in flight.
        await mkdir(join(world.home, 'config'), { recursive: true });
        await writeFile(join(world.home, 'config/config.json'), '[');
        made += 1;
        return { status: 201, body: { data: { id: `k${made}`, name: 'ci', secret_key: SECRET } } };
      },
    });
    const argv = ['api-keys', 'create', 'ci', '--save-profile', 'work'];
    const failed = await world.cli(argv);
    expect(failed).toMatchObject({ code: 9, stdout: `${SECRET}\n` });
    expect(failed.stderr).not.toContain(SECRET);
  });

  test.each(['address', 'key'])(
    'does not overwrite a profile whose %s has changed',
    async (what) => {
      const own = () => (what === 'key' ? world.service.url : 'https://x.example');
      world = await createWorld({
        handler: async ({ path }) => {
          if (path === '/users/me') return { status: 200, body: { data: { id: 'u1' } } };
          await mkdir(join(world.home, 'config'), { recursive: true });
          await writeFile(
            join(world.home, 'config/config.json'),
            JSON.stringify({
              profiles: { work: { base_url: own(), api_key: 'theirs' } },
            }),
          );
          return { status: 201, body: { data: { id: 'k', name: 'ci', secret_key: SECRET } } };
        },
      });
      if (what === 'key') {
        await mkdir(join(world.home, 'config'), { recursive: true });
        const before = { profiles: { work: { base_url: own() } } };
        await writeFile(join(world.home, 'config/config.json'), JSON.stringify(before));
      }
      const result = await world.cli(['api-keys', 'create', 'ci', '--save-profile', 'work']);
      expect(result).toMatchObject({ code: 9, stdout: `${SECRET}\n` });
      const config = await readFile(join(world.home, 'config/config.json'), 'utf8');
      expect(config).toContain('theirs');
      expect(config).not.toContain(SECRET);
    },
  );

  test('waits for the response after the first Ctrl-C, and stops waiting at the second', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const world = await createWorld({
      handler: ({ method }) => {
        if (method === 'GET') return ok([]);
        first.abort(new CliError('interrupted', 'Interrupted.'));
        setImmediate(() => second.abort(new CliError('interrupted', 'Interrupted.')));
        return new Promise(() => undefined);
      },
    });
    const interrupts = { first: first.signal, second: second.signal };
    const { stderr } = await world.cli(['api-keys', 'create', 'ci'], { interrupts });
    expect(stderr).toContain('Waiting for the response: API key ci may already exist.');
  });

  test("reports a key that may exist after a lost response, and doesn't create the key file", async () => {
    world = await keyWorld('hangUp');
    const path = join(world.home, 'ci.key');
    const result = await world.cli(['api-keys', 'create', 'ci', '--key-file', path]);
    expect(result).toMatchObject({ code: 7, stdout: '' });
    expect(sent(result.requests)).toEqual(['POST /api-keys']);
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });

  test.each([
    ['no secret', { data: { id: 'k9', name: 'ci' } }, 10],
    ['a blank secret and no name', { data: { id: 'k9', secret_key: ' ' } }, 10],
    ['a secret that is no JSON', '{"data":{"id":"k9","secret_key":"\\x"}}', 7],
  ])('rejects a create response with %s', async (_what, body, code) => {
    world = await keyWorld({ status: 201, body });
    const result = await world.cli(['api-keys', 'create', 'ci', '--json']);
    expect(result).toMatchObject({ code, stdout: '' });
  });

  test('creates no key if its file cannot be created, and prints a secret that was not stored', async () => {
    world = await createWorld({
      handler: async () => {
        await rm(join(world.home, 'gone'), { recursive: true });
        return { status: 201, body: { data: { id: 'k', name: 'ci', secret_key: SECRET } } };
      },
    });
    const long = await world.cli(['api-keys', 'create', 'ci', '--key-file', 'x'.repeat(300)]);
    expect(long).toMatchObject({ code: 9, requests: [] });
    await mkdir(join(world.home, 'gone'));
    const path = join(world.home, 'gone', 'ci.key');
    const gone = await world.cli(['api-keys', 'create', 'ci', '--key-file', path]);
    expect(gone).toMatchObject({ code: 9, stdout: `${SECRET}\n` });
  });

  const ODD: [string, Answer, number][] = [
    ['a number as ID', { status: 201, body: { data: { id: 7, secret_key: SECRET } } }, 7],
    ['no ID', { status: 201, body: { data: { secret_key: SECRET } } }, 7],
    ['a list', { status: 201, body: { data: [{ id: 'k', secret_key: SECRET }] } }, 7],
    ['no envelope', { status: 201, body: { id: 'k', secret_key: SECRET } }, 7],
    ['a bare line break', { status: 201, body: `{"data":{"secret_key":"${SECRET}\n"}}` }, 7],
    ['a conflict', { status: 409, body: { message: 'no', data: { secret_key: SECRET } } }, 5],
    ['a failure', { status: 500, body: { message: 'no', data: { secret_key: SECRET } } }, 7],
  ];
  test.each(ODD)(
    'prints or saves the secret in a response with %s',
    async (_what, answer, code) => {
      world = await keyWorld(answer);
      const printed = await world.cli(['api-keys', 'create', 'ci']);
      expect(printed.stderr).not.toContain(SECRET);
      const json = await world.cli(['api-keys', 'create', 'ci', '--json']);
      expect(JSON.parse(json.stdout)).toEqual({ name: 'ci', secret_key: SECRET });
      const path = join(world.home, 'ci.key');
      const saved = await world.cli(['api-keys', 'create', 'ci', '--key-file', path]);
      expect(saved).toMatchObject({ code, stdout: '' });
      expect(await readFile(path, 'utf8')).toBe(`${SECRET}\n`);
      const work = ['--save-profile', 'work'];
      expect((await world.cli(['api-keys', 'create', 'ci', ...work])).code).toBe(code);
      expect(await readFile(join(world.home, 'config/config.json'), 'utf8')).toContain(SECRET);
    },
  );

  test('accepts white space around the secret', async () => {
    world = await keyWorld({
      status: 201,
      body: { data: { id: 'k', name: 'ci', secret_key: `${SECRET}\r\n` } },
    });
    expect(await world.cli(['api-keys', 'create', 'ci'])).toMatchObject({
      code: 0,
      stdout: `${SECRET}\n`,
    });
  });

  test.each([
    ['a space inside', 'svc_sk_a b', 'svc_sk_a b'],
    ['a line break inside', 'svc_sk_a\nb', 'svc_sk_a\nb'],
    ['a letter beyond ASCII', 'svc_sk_é', 'svc_sk_é'],
    ['an escape sequence', '\u001b]52;c;eA==\u0007svc_sk_a', 'svc_sk_a'],
  ])('does not lose a secret with %s', async (_what, secret, shown) => {
    world = await keyWorld({
      status: 201,
      body: { data: { id: 'k', name: 'ci', secret_key: secret } },
    });
    await world.cli(['api-keys', 'create', 'ci']);
    const path = join(world.home, 'ci.key');
    await world.cli(['api-keys', 'create', 'ci', '--key-file', path]);
    expect(await readFile(path, 'utf8')).toBe(`${secret}\n`);
    const stored = await world.cli(['api-keys', 'create', 'ci', '--save-profile', 'work']);
    expect(stored).toMatchObject({ code: 9, stdout: `${shown}\n` });
    expect(existsSync(join(world.home, 'config/config.json'))).toBe(false);
  });

  test('removes the empty key file after a refusal', async () => {
    world = await keyWorld({ status: 422, body: { message: ['name is odd'] } });
    const path = join(world.home, 'ci.key');
    const result = await world.cli(['api-keys', 'create', 'ci', '--key-file', path]);
    expect(result).toMatchObject({ code: 1, stdout: '' });
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });

  test.each([
    [['create'], 'error: missing argument: name'],
    [['create', ' '], 'error: NAME " ": must not be empty'],
    [['create', 'n'.repeat(51)], 'must have at most 50 characters'],
    [['create', TEST_KEY], 'this is an API key'],
    [['create', 'ci', '-q'], 'error: --quiet: the secret is shown only once and would be lost'],
    [['create', 'ci', '--query', 'name'], 'the secret is shown only once and would be lost'],
    [['create', 'ci', '--columns', 'id'], 'error: --columns without secret_key: the secret'],
    [['create', 'ci', '--columns', 'nope'], "error: --columns: unknown column 'nope'"],
    [['create', 'ci', '--key-file', ''], 'error: --key-file "": must not be empty'],
    [['create', 'ci', '--key-file', '/nowhere/x'], 'its folder does not exist'],
    [['create', 'ci', '--key-file', '/dev/null/x'], 'part of the path is not a folder'],
    [['create', 'ci', '--key-file', '/nowhere/'], 'the path is a folder'],
    [
      ['create', 'ci', '--key-file', 'k', '--save-profile', 'work'],
      "cannot be used with option '--key-file <path>'",
    ],
    [['create', 'ci', '--save-profile', 'sandbox'], 'error: --save-profile "sandbox": the profile'],
    [
      ['create', 'ci', '--save-profile', 'a b'],
      'error: --save-profile "a b": must contain only letters',
    ],
  ])('rejects bad input: api-keys %j', async (argv, message) => {
    world = await keyWorld();
    const result = await world.cli(['api-keys', ...argv]);
    expect(result).toMatchObject({ code: 2, stdout: '', requests: [] });
    expect(result.stderr).toContain(message);
    expect(result.stderr).toMatch(/^(error: .+\n(hint: .+\n)?|\{.+\}\n)$/);
    expect(result.stderr).not.toContain(TEST_KEY);
  });
});

describe('list', () => {
  test('does not mark a key as in use if several have its prefix, and masks secrets', async () => {
    let keys: object[] = [
      { id: 'a', name: 'a', key_prefix: 'svc_sk_...', secret_key: SECRET },
      { id: 'b', name: 'b', key_prefix: 'svc_sk_' },
      { id: 'c', name: 'c', key_prefix: null },
    ];
    const world = await createWorld({ handler: () => ok(keys) });
    const json = await world.cli(['api-keys', 'list', '--json']);
    expect(json.stdout).not.toContain(SECRET);
    const list = await world.cli(['api-keys', 'list', '--columns', 'name,in_use', '-o', 'csv']);
    expect(list.stdout.split('\n')).toEqual(['name,in_use', 'a,', 'b,', 'c,false', '']);
    keys = [{ id: 'd', name: 'd', key_prefix: 'svc_sk_another' }];
    const other = await world.cli(['api-keys', 'list', '--columns', 'name,in_use', '-o', 'csv']);
    expect(other.stdout.split('\n')).toEqual(['name,in_use', 'd,false', '']);
  });
});
