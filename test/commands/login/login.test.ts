import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { signIn } from '../../../src/commands/profiles/login.ts';
import { CliError } from '../../../src/errors.ts';
import { atTerminal } from '../../support/at-terminal.ts';
import { type CliOptions, createWorld, type World } from '../../support/run-cli.ts';
import { envelope, type Handler, ok, sent } from '../../support/service.ts';
import { ANNA_KEY, accounts, BORIS_KEY } from './accounts.ts';

async function newWorld(handler: Handler = accounts): Promise<World> {
  return await createWorld({ handler, signedIn: false });
}

const configFile = (world: World) => join(world.home, 'config', 'config.json');

async function stored(world: World): Promise<unknown> {
  return JSON.parse(await readFile(configFile(world), 'utf8'));
}

async function expectNothingStored(world: World): Promise<void> {
  expect(await readdir(join(world.home, 'config')).catch(() => [])).toEqual([]);
}

function login(world: World, key: string, ...more: string[]) {
  return world.cli(['login', '--base-url', world.service.url, '--key-stdin', ...more], {
    stdin: `${key}\n`,
  });
}

describe('login with all values', () => {
  test('prints four lines in a terminal, ending with the next step', async () => {
    const world = await newWorld();
    const argv = ['login', '--base-url', world.service.url, '--key-file'];
    const file = join(world.home, 'key.txt');
    await writeFile(file, `${ANNA_KEY}\n`, { mode: 0o600 });
    const { code, stdout, stderr } = await world.cli([...argv, file], {
      terminal: true,
      columns: 300,
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    // A slow computer draws a spinner before them.
    const lines = stripVTControlCharacters(stderr.slice(stderr.indexOf('Signed in')));
    expect(lines.split(/[\r\n]+/)).toEqual([
      `Signed in at ${world.service.url} as anna@example.com (balance 1,500.50 ₽).`,
      expect.stringContaining(`Key saved to ${configFile(world)} (mode 0600).`),
      'Active profile: default',
      'Rent an instance: gpucloud instances create',
      '',
    ]);
  });

  test("stores the key even if this computer's journal can't be written", async () => {
    const world = await newWorld();
    await mkdir(join(world.home, 'state'), { recursive: true });
    await writeFile(join(world.home, 'state', 'journal'), 'no folder');
    await login(world, ANNA_KEY);
    expect(await stored(world)).toMatchObject({ profiles: { default: { api_key: ANNA_KEY } } });
  });

  test('calls no profile active that GPUCLOUD_PROFILE overrides', async () => {
    const world = await newWorld();
    const file = join(world.home, 'key.txt');
    await writeFile(file, `${ANNA_KEY}\n`, { mode: 0o600 });
    const { stderr } = await world.cli(
      ['login', '--profile', 'work', '--base-url', world.service.url, '--key-file', file],
      { terminal: true, columns: 300, env: { GPUCLOUD_PROFILE: 'sandbox' } },
    );
    expect(stderr).toContain('GPUCLOUD_PROFILE selects the profile "sandbox" until you unset it.');
    expect(stderr).toContain('Rent an instance: gpucloud --profile work instances create\n');
    expect(stderr).not.toContain('Active profile: ');
  });

  test('checks and stores the key, and prints its account and location', async () => {
    const world = await newWorld();
    const { requests } = await login(world, ANNA_KEY);

    expect(sent(requests)).toEqual(['GET /users/me']);
    expect(requests[0]?.headers['x-api-key']).toBe(ANNA_KEY);
    expect(await stored(world)).toEqual({
      current: 'default',
      profiles: {
        default: {
          base_url: world.service.url,
          api_key: ANNA_KEY,
          account: { id: 'user-anna', email: 'anna@example.com', name: 'Anna' },
        },
      },
    });
  });

  test('prints nothing except the profile without its key with --json', async () => {
    const world = await newWorld();
    const { stdout, stderr } = await login(world, BORIS_KEY, '--profile', 'work', '--json');
    expect(stdout + stderr).not.toContain(BORIS_KEY);
  });

  test('trims the line end of --key-file, and warns if other users can read the file', async () => {
    const world = await newWorld();
    const file = join(world.home, 'key.txt');
    await writeFile(file, `${ANNA_KEY}\r\n`, { mode: 0o600 });
    const argv = ['login', '--base-url', `${world.service.url}/`, '--key-file', file];
    expect((await world.cli(argv)).stderr).not.toContain('warning');

    await chmod(file, 0o644);
    await world.cli([...argv, '--yes']);
  });

  test('uses GPUCLOUD_BASE_URL at login, or the base URL of an existing profile', async () => {
    const world = await newWorld();
    await world.cli(['login', '--key-stdin', '--profile', 'work'], {
      stdin: ANNA_KEY,
      env: { GPUCLOUD_BASE_URL: world.service.url },
    });
    const again = await world.cli(['login', '--key-stdin', '--profile', 'work', '--yes'], {
      stdin: ANNA_KEY,
    });
    expect(again).toMatchObject({ code: 0, requests: [{ path: '/users/me' }] });
    // The active profile has this base URL, so login replaces its key.
    expect((await login(world, ANNA_KEY, '--yes')).stdout).toContain('Name:      work\n');
    for (const env of [{ GPUCLOUD_BASE_URL: world.service.url }, {}]) {
      await world.cli(['profiles', 'use', 'sandbox']);
      await world.cli(['login', '--key-stdin', '--yes'], { stdin: ANNA_KEY, env });
    }
  });

  test('keeps the active profile if the new key is for another service', async () => {
    const [one, other] = [await newWorld(), await newWorld()];
    await login(one, ANNA_KEY, '--profile', 'work');
    await one.cli(['login', '--base-url', other.service.url, '--key-stdin'], {
      stdin: BORIS_KEY,
    });
    expect(await stored(one)).toMatchObject({
      current: 'default',
      profiles: { work: { api_key: ANNA_KEY }, default: { api_key: BORIS_KEY } },
    });
  });

  test('warns about variables that override the stored key', async () => {
    const world = await newWorld();
    await world.cli(
      ['login', '--profile', 'work', '--base-url', world.service.url, '--key-stdin'],
      { stdin: ANNA_KEY, env: { GPUCLOUD_API_KEY: BORIS_KEY, GPUCLOUD_PROFILE: 'home' } },
    );
    expect(await stored(world)).toMatchObject({ profiles: { work: { api_key: ANNA_KEY } } });
    await world.cli(
      ['login', '--profile', 'work', '--base-url', world.service.url, '--key-stdin', '--yes'],
      { stdin: ANNA_KEY, env: { GPUCLOUD_PROFILE: 'sandbox' } },
    );
  });
});

describe('a login that fails', () => {
  test('exits with 4 and stores nothing if the service refuses the key', async () => {
    const world = await newWorld();
    const { stderr } = await login(world, 'svc_sk_wrong');
    expect(stderr).not.toContain('svc_sk_wrong');
    await expectNothingStored(world);
  });

  test.each([
    [403, { any: 'thing' }, 4],
    [401, '', 4],
    [404, '<html>no such page</html>', 3],
    [200, '<html>welcome</html>', 10],
    [200, envelope({ name: 'no id' }), 10],
  ])(
    'stores nothing if the service returns %i %o, and exits with %i',
    async (status, body, _exit) => {
      const world = await newWorld(() => ({ status, body }));
      const { stderr } = await login(world, ANNA_KEY);
      expect(stderr).toContain('Nothing was stored.');
      await expectNothingStored(world);
    },
  );

  test("warns if the key's account is blocked", async () => {
    const world = await newWorld(() => ok({ id: 'user-1', is_active: false }));
    await login(world, ANNA_KEY);
  });

  test("exits with 3 if the base URL's path is wrong, and suggests checking it", async () => {
    const world = await newWorld();
    const url = `${world.service.url}/v9`;
    const argv = ['login', '--base-url', url, '--key-stdin'];
    await world.cli(argv, { stdin: ANNA_KEY });
    await expectNothingStored(world);
  });

  test.each([
    [[], { GPUCLOUD_PROFILE: 'sandbox' }, 'unset GPUCLOUD_PROFILE, or choose a profile'],
    [['--profile', 'sandbox'], {}, 'use the sandbox: gpucloud profiles use sandbox'],
  ])(
    'exits with 2 for a login to the sandbox, and stores nothing: %j %j',
    async (flags, env, hint) => {
      const world = await newWorld();
      const { stderr } = await world.cli(['login', '--key-stdin', ...flags], {
        stdin: ANNA_KEY,
        env,
      });
      expect(stderr).toContain(hint);
      await expectNothingStored(world);
    },
  );

  test("exits with 6 and stores nothing if the service can't be reached", async () => {
    const world = await newWorld();
    const { url } = world.service;
    await world.service.close();
    const { stderr } = await world.cli(['login', '--base-url', url, '--key-stdin'], {
      stdin: ANNA_KEY,
    });
    // The message must appear only once.
    expect(stderr.match(/Nothing was \w+\.|No changes made\./g)).toEqual(['No changes made.']);
    await expectNothingStored(world);
  });

  test('keeps the profile after a refused key', async () => {
    const world = await newWorld();
    await login(world, ANNA_KEY);
    const before = await readFile(configFile(world));
    expect((await login(world, 'svc_sk_wrong', '--yes')).code).toBe(4);
    expect(await readFile(configFile(world))).toEqual(before);
  });
});

describe('login with bad input', () => {
  async function refusal(argv: readonly string[], options: CliOptions = {}): Promise<string> {
    const world = await newWorld();
    const words = argv.map((word) => word.replace('URL', world.service.url));
    const { code, stdout, stderr, requests } = await world.cli(['login', ...words], options);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
    expect(stripVTControlCharacters(stderr)).toMatch(/^error: .+\n(hint: .+\n)?$/);
    await expectNothingStored(world);
    return stderr;
  }

  test('lists all missing flags in one error', async () => {
    expect(await refusal([])).toBe(
      'error: not interactive: login needs --base-url URL (or GPUCLOUD_BASE_URL) and --key-stdin, --key-file FILE or --key-command COMMAND\n',
    );
    expect(await refusal(['--base-url', 'URL'], { stdin: ANNA_KEY })).toBe(
      'error: not interactive: login needs --key-stdin, --key-file FILE or --key-command COMMAND\n',
    );
    expect(await refusal(['--key-stdin'], { stdin: ANNA_KEY })).toContain('--base-url URL');
  });

  test.each([
    [['a-secret-key']],
    [['--base-url', 'URL', 'a-secret-key']],
    [['--key', 'a-secret-key']],
    [['--api-key', 'a-secret-key']],
    [['--api-key=a-secret-key']],
  ])('rejects a key in its arguments: %j', async (argv) => {
    const stderr = await refusal(argv);
    expect(stderr).toContain('--key-stdin');
    expect(stderr).not.toContain('a-secret-key');
  });

  test.each([
    ['of two lines', 'first-line\nsecond', 'must be one line'],
    ['with a space', 'some secret', 'visible ASCII'],
    ['in Cyrillic', 'ключ', 'visible ASCII'],
    ['of nothing', '', 'visible ASCII'],
    ['with only a line end', '\n', 'visible ASCII'],
    ['that is too long', 'k'.repeat(1025), 'visible ASCII'],
    ['of more than 1 MiB', 'k'.repeat(1024 * 1024 + 1), 'longer than 1 MiB'],
  ])('rejects an API key %s at login', async (_what, stdin, rule) => {
    const stderr = await refusal(['--base-url', 'URL', '--key-stdin'], { stdin });
    expect(stderr).toContain(rule);
    if (stdin.trim() !== '') expect(stderr).not.toContain(stdin.slice(0, 4));
  });

  test.each([
    [['--key-stdin', '--key-file', 'x'], '--key-file <file>', '--key-stdin'],
    [['--key-stdin', '--key-command', 'x'], '--key-command <command>', '--key-stdin'],
    [['--key-file', 'x', '--key-command', 'x'], '--key-command <command>', '--key-file <file>'],
  ])('rejects two key sources at login: %j', async (sources, one, other) => {
    expect(await refusal(['--base-url', 'URL', ...sources])).toContain(
      `option '${one}' cannot be used with option '${other}'`,
    );
  });

  test('rejects a key file that is missing or a folder', async () => {
    expect(await refusal(['--base-url', 'URL', '--key-file', '/nowhere/key'])).toBe(
      'error: --key-file "/nowhere/key": no such file\n',
    );
    expect(await refusal(['--base-url', 'URL', '--key-file', '/dev/null'])).toContain(
      '--key-file "/dev/null": ',
    );
    expect(await refusal(['--base-url', 'URL', '--key-file', '/'])).toContain(
      'is a folder, not a file',
    );
  });

  test.each([
    ['ftp://example.com', 'https://'],
    ['http://example.com', 'loopback'],
    ['example', 'complete address'],
    ['https://example.com?x=1', 'query'],
  ])('rejects the base URL %s at login', async (url, rule) => {
    expect(await refusal(['--base-url', url, '--key-stdin'], { stdin: ANNA_KEY })).toContain(rule);
    const env = { GPUCLOUD_BASE_URL: url };
    const stderr = await refusal(['--key-stdin'], { stdin: ANNA_KEY, env });
    expect(stderr).toContain(rule);
  });

  test.each(['a b', '../x', '', '-', 'x'.repeat(51)])(
    'rejects the profile name %j at login',
    async (name) => {
      const argv = ['--base-url', 'URL', '--key-stdin', `--profile=${name}`];
      expect(await refusal(argv, { stdin: ANNA_KEY })).toContain('--profile');
    },
  );

  test.each(['sandbox', 'Sandbox'])('rejects the profile %s at login', async (name) => {
    const argv = ['--base-url', 'URL', '--key-stdin', '--profile', name];
    expect(await refusal(argv, { stdin: ANNA_KEY })).toContain('gpucloud profiles use sandbox');
    const env = { GPUCLOUD_PROFILE: name };
    expect(await refusal(argv.slice(0, 3), { stdin: ANNA_KEY, env })).toContain('GPUCLOUD_PROFILE');
  });

  test('rejects login --key-stdin in a terminal', async () => {
    expect(
      await refusal(['--base-url', 'URL', '--key-stdin'], { terminal: true, columns: 300 }),
    ).toContain('stdin is a terminal');
  });
});

describe('login in a terminal', () => {
  test('prompts for missing values, checks each rule, and stores the profile', async () => {
    const world = await newWorld();
    const { url } = world.service;
    const person = atTerminal(world, ['http://example.com', `${url}/ `, '', 'a b', ANNA_KEY]);
    await signIn(
      { keyStdin: false, keyFile: undefined, keyCommand: undefined, store: undefined },
      person.context,
    );
    expect(person.said).toEqual([
      'Base URL of the service (--base-url), such as https://api.example.com/v1',
      '> http:// is only for this computer (loopback): it would send the key unencrypted',
      `API key for ${url}`,
      '> Enter your API key',
      '> must be one line of visible ASCII characters',
    ]);
    expect(await stored(world)).toMatchObject({
      profiles: { default: { base_url: url, api_key: ANNA_KEY } },
    });
  });

  test('asks again for a key that the service refuses, three times in all', async () => {
    const world = await newWorld();
    const { url } = world.service;
    const source = { keyStdin: false, keyFile: undefined, keyCommand: undefined, store: undefined };
    const wrong = ['svc_sk_1', 'svc_sk_2', 'svc_sk_3'];
    const person = atTerminal(world, [url, ...wrong, 'svc_sk_4']);
    await expect(signIn(source, person.context)).rejects.toMatchObject({
      failure: 'authentication',
    });
    expect(person.said.filter((line) => line.startsWith('API key'))).toHaveLength(3);
    const patient = atTerminal(world, [url, 'svc_sk_1', ANNA_KEY]);
    await signIn(source, patient.context);
    expect(patient.printed).toEqual([person.printed[0]]);
    const again = atTerminal(world, ['svc_sk_1', 'yes', BORIS_KEY]);
    await signIn(source, again.context);
    expect(again.said).toEqual([
      `API key for ${url}`,
      `Replace the key in the profile "default" (${url}, anna@example.com)? The old key keeps working but is removed from this computer.`,
      `API key for ${url}`,
    ]);
  });

  test('asks before it replaces a key that it cannot compare', async () => {
    const world = await newWorld();
    const file = join(world.home, 'key');
    await writeFile(file, ANNA_KEY, { mode: 0o600 });
    await mkdir(join(world.home, 'config'), { mode: 0o700 });
    for (const place of [{ keyring: 'default' }, { key_command: ['cat', file] }]) {
      const profile = { base_url: world.service.url, ...place };
      const text = JSON.stringify({ current: 'default', profiles: { default: profile } });
      await writeFile(configFile(world), text, { mode: 0o600 });
      await world.cli(['login', '--key-file', file, '--json']);
    }
  });

  test('prompts only for the key if the base URL is known', async () => {
    const world = await newWorld();
    await login(world, BORIS_KEY, '--profile', 'work');
    const person = atTerminal(world, [ANNA_KEY, 'yes']);
    await signIn(
      { keyStdin: false, keyFile: undefined, keyCommand: undefined, store: undefined },
      person.context,
    );
    expect(person.said).toEqual([
      `API key for ${world.service.url}`,
      expect.stringMatching(/^Replace the key in the profile "work"/),
    ]);
    expect(await stored(world)).toMatchObject({ profiles: { work: { api_key: ANNA_KEY } } });
  });

  test('stores and sends nothing if a prompt is cancelled', async () => {
    const world = await newWorld();
    const person = atTerminal(world, []);
    await expect(
      signIn(
        { keyStdin: false, keyFile: undefined, keyCommand: undefined, store: undefined },
        person.context,
      ),
    ).rejects.toMatchObject({ failure: 'interrupted' });
    expect(world.service.requests).toEqual([]);
    await expectNothingStored(world);
  });

  test('exits with 2 instead of prompting with --no-input', async () => {
    const world = await newWorld();
    const { code, stderr } = await world.cli(['login', '--no-input'], { terminal: true });
    expect(code).toBe(2);
    expect(stderr).toContain('--base-url');
  });
});

test('exits with 130 and stores nothing if interrupted while checking the key', async () => {
  const stop = new AbortController();
  const world = await newWorld(() => {
    stop.abort(new CliError('interrupted', 'Interrupted.'));
    return new Promise(() => undefined);
  });
  const { code } = await world.cli(['login', '--base-url', world.service.url, '--key-stdin'], {
    stdin: ANNA_KEY,
    interrupts: { first: stop.signal, second: new AbortController().signal },
  });
  expect(code).toBe(130);
  await expectNothingStored(world);
});

describe('the hint after a refused key', () => {
  const me = ['me', 'get'];

  test('suggests correcting or unsetting GPUCLOUD_API_KEY if it contains the refused key', async () => {
    const world = await newWorld();
    const env = { GPUCLOUD_API_KEY: 'svc_sk_wrong', GPUCLOUD_BASE_URL: world.service.url };
    for (const argv of [me, ['api', 'GET', '/users/me'], ['billing', 'balance']]) {
      const { code, stderr } = await world.cli(argv, { env });
      expect(code).toBe(4);
      expect(stderr).toContain('hint: Correct the key in GPUCLOUD_API_KEY, or ');
    }
  });

  test("suggests login with the key's profile", async () => {
    let works = true;
    const world = await newWorld((request) =>
      works ? accounts(request) : { status: 401, body: { message: 'revoked' } },
    );
    await login(world, ANNA_KEY, '--profile', 'work');
    works = false;
    expect((await world.cli(me)).stderr).toContain('working key: gpucloud login\n');
    await world.cli([...me, '--profile', 'work']);
  });

  test('suggests a profile with a key if one exists', async () => {
    const world = await newWorld();
    const hint = async (...argv: string[]) => (await world.cli([...me, ...argv])).stderr;
    expect(await hint()).toContain(
      'hint: Try the sandbox: gpucloud --profile sandbox …, or sign in: gpucloud login',
    );

    await login(world, ANNA_KEY, '--profile', 'work');
    await world.cli(['profiles', 'add', 'bare', '--base-url', world.service.url]);
    const file: { current?: string } = Object(await stored(world));
    const { current: _gone, ...none } = file;
    await writeFile(configFile(world), JSON.stringify(none));
    expect(await hint()).toContain('"work" has a key; use it: gpucloud profiles use work\n');
    expect(await hint('--profile', 'bare')).toContain('gpucloud login --profile bare\n');

    await login(world, BORIS_KEY, '--profile', 'home');
    await writeFile(
      configFile(world),
      JSON.stringify({ ...Object(await stored(world)), current: undefined }),
    );
    expect(await hint()).toContain('has a key: gpucloud profiles use NAME (home, work)\n');
  });
});
