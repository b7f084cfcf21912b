import { spawnSync } from 'node:child_process';
import {
  access,
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { CliError } from '../../../src/errors.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from '../../api/certificate.ts';
import { type CliOptions, createWorld, TEST_KEY, type World } from '../../support/run-cli.ts';
import { type Answer, envelope, type Handler, sent } from '../../support/service.ts';

interface Check {
  readonly id: string;
  readonly status: string;
  readonly message: string;
  readonly hint: string | null;
}

const worlds: World[] = [];
const NOW = '2026-01-15T12:00:00.000Z';
const USER = { id: 'u1', email: 'ann@example.com', name: 'Ann', balance: '1.00' };

function answer(status: number, body: unknown, date: string | undefined = NOW): Answer {
  const headers = date === undefined ? {} : { date: new Date(date).toUTCString() };
  return { status, headers, body };
}

/** Creates a service whose account has these SSH keys. */
const serving =
  (keys: readonly object[] = [], date?: string): Handler =>
  ({ path }) =>
    answer(200, envelope(path === '/ssh-keys' ? keys : USER), date);

const well = serving();

async function worldOf(handler: Handler = well, signedIn = true): Promise<World> {
  const world = await createWorld({ handler, signedIn, isKeyNew: true });
  worlds.push(world);
  await fakeSsh(world, 'echo "OpenSSH_9.2p1 Test" >&2');
  return world;
}

afterEach(async () => {
  for (const world of worlds.splice(0)) {
    await chmod(join(world.home, 'state'), 0o700).catch(() => undefined);
  }
});

const bin = (world: World) => join(world.home, 'bin');

async function fakeSsh(world: World, script: string): Promise<void> {
  await mkdir(bin(world), { recursive: true });
  await writeFile(join(bin(world), 'ssh'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

const withSsh = (world: World, env: CliOptions['env'] = {}) => ({
  env: { PATH: bin(world), LANG: 'C.UTF-8', ...env },
});

/** Runs doctor, and finds its checks by ID. */
async function examine(world: World, env: CliOptions['env'] = {}, ...argv: string[]) {
  const given = withSsh(world, env);
  const { code, stdout, stderr, requests } = await world.cli(['doctor', '--json', ...argv], given);
  const report = JSON.parse(stdout) as { checks: Check[]; ok: boolean };
  expect(report.ok).toBe(code === 0);
  expect(report.ok).toBe(report.checks.every(({ status }) => status !== 'fail'));
  expect(stdout + stderr).not.toContain(TEST_KEY);
  const of = (id: string) => report.checks.find((check) => check.id === id);
  return { code, report, of, stderr, requests };
}

describe('doctor', () => {
  test('exits with 130 on Ctrl-C instead of reporting a failed check', async () => {
    const world = await worldOf(well, false);
    await fakeSsh(world, `trap '' INT; echo > "${world.home}/asked"; while :; do sleep 0.05; done`);
    const [first, second] = [new AbortController(), new AbortController()];
    const run = world.cli(['doctor', '--json'], {
      env: { PATH: `${bin(world)}:${process.env.PATH}`, LANG: 'C.UTF-8' },
      interrupts: { first: first.signal, second: second.signal },
    });
    await vi.waitFor(() => access(join(world.home, 'asked')), 20_000);
    first.abort(new CliError('interrupted', 'Interrupted.'));
    const { code, stdout, stderr } = await run;
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'interrupted' });
  });

  test('prints every check of doctor', async () => {
    const world = await worldOf();
    const { code, stdout, stderr, requests } = await world.cli(['doctor'], withSsh(world));
    const { host } = new URL(world.service.url);
    expect(stdout).toBe(
      `Computer
  program:         pass  npm package /usr/lib/node_modules/gpucloud/bin/gpucloud.js
  node:            WARN  not checked: the Node.js version is unknown
  ssh:             pass  OpenSSH_9.2p1 Test
  completion:      pass  not installed

Settings
  profile:         pass  no profile is active
  base_url:        pass  ${world.service.url}, from GPUCLOUD_BASE_URL
  api_key:         pass  svc_sk_test_…, from GPUCLOUD_API_KEY

Files
  config_folder:   pass  ${world.home}/config does not exist yet; gpucloud creates it when needed
  config_file:     pass  ${world.home}/config/config.json does not exist yet: no profiles
  state_folder:    pass  ${world.home}/state does not exist yet; gpucloud creates it when needed
  state_writable:  pass  ${world.home}/state can be created

Service
  proxy:           pass  none for ${host}
  certificates:    pass  trusts Node.js's bundled CA certificates
  service:         pass  ${world.service.url} responded in 0 ms
  account:         pass  the key belongs to ann@example.com
  ssh_key:         WARN  the account has no SSH key
                         add one: gpucloud ssh-keys add
  deadlines:       pass  "instances reap" is not scheduled
  mcp:             pass  agents can read; to rent within a budget, they need a scheduled "instances reap"
  clock:           pass  1 s behind the service's clock
`,
    );
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'No check failed. Warnings: node, ssh_key.\n',
    });
    expect(sent(requests)).toEqual(['GET /users/me', 'GET /ssh-keys']);
  });

  test('checks the built-in sandbox without a key', async () => {
    const world = await worldOf(() => 'hangUp', false);
    const { code, of } = await examine(world, {}, '--profile', 'sandbox');
    expect(code).toBe(0);
    expect(of('profile')?.message).toBe('sandbox, from --profile');
    expect(of('base_url')?.message).toBe('not needed: the sandbox uses its built-in service');
    expect(of('api_key')?.message).toBe('not needed');
    expect(of('proxy')?.message).toBe('not needed: the sandbox runs on this computer');
    expect(of('account')?.message).toMatch(/^the key belongs to sandbox-[0-9a-f]{8}@example\.com$/);
    expect(of('clock')?.status).toBe('pass');
  });

  test('prints the checks as csv, IDs and selected columns', async () => {
    const world = await worldOf();
    const { stdout } = await world.cli(
      ['doctor', '-o', 'csv', '--columns', 'id,status', '--no-header'],
      withSsh(world),
    );
    expect(stdout).toContain('service,pass');
    const lines = (await world.cli(['doctor', '-q'], withSsh(world))).stdout.split('\n');
    expect(lines).toContain('clock');
    const slip = await world.cli(['doctor', '--columns', 'state'], withSsh(world));
    expect(slip).toMatchObject({ code: 2, stdout: '', requests: [] });
  });

  test("exits with 1 if a check fails, and prints the check's name to stderr", async () => {
    const world = await worldOf(well, false);
    const { code, stderr, of } = await examine(world);
    expect(code).toBe(1);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'refused',
      message: '2 of 19 checks failed: base_url, api_key.',
    });
    expect(of('api_key')).toEqual({
      id: 'api_key',
      status: 'fail',
      message: 'missing: you are not signed in',
      hint: 'sign in with "gpucloud login", set GPUCLOUD_API_KEY, or try "gpucloud --profile sandbox doctor"',
    });
    expect(of('service')?.status).toBe('warn');
  });
});

describe("doctor's service check", () => {
  test.each([
    [401, { statusCode: 401, message: 'no', error: 'Unauthorized' }, 'fail'],
    [403, '', 'fail'],
    [404, { statusCode: 404, message: 'no', error: 'Not Found' }, 'fail'],
    [429, '', 'warn'],
    [200, '<html>sign in to the hotel</html>', 'fail'],
    [200, envelope({ ...USER, is_active: false }), 'fail'],
  ])(
    'reports a response %i %j as reachable, and the account as %s',
    async (status, body, verdict) => {
      const { code, of } = await examine(await worldOf(() => answer(status, body)));
      expect(of('service')?.status).toBe('pass');
      expect(of('clock')?.status).toBe('pass');
      expect(of('account')?.status).toBe(verdict);
      expect(code).toBe(verdict === 'fail' ? 1 : 0);
    },
  );

  test('fails if the service returns a server error', async () => {
    const { code, of } = await examine(await worldOf(() => answer(500, 'broken')));
    expect(code).toBe(1);
    expect(of('service')).toMatchObject({ status: 'fail' });
    expect(of('account')?.message).toBe('not checked: the service did not respond');
  });

  test('fails the service check if no server responds', async () => {
    const world = await worldOf();
    const { code, of } = await examine(world, { GPUCLOUD_BASE_URL: 'http://127.0.0.1:9' });
    expect(code).toBe(1);
    expect(of('service')).toMatchObject({
      status: 'fail',
      hint: 'check the network, and the results of base_url, proxy and certificates above',
    });
  });

  test("checks the service's response even without a key", async () => {
    const world = await worldOf(() => answer(401, ''));
    const { code, of, requests } = await examine(world, { GPUCLOUD_API_KEY: undefined });
    expect(code).toBe(1);
    expect(of('service')?.status).toBe('pass');
    expect(of('account')?.message).toBe('not checked: no key');
    expect(requests[0]?.headers['x-api-key']).toBe('no-key');
  });

  test('stops all checks at --timeout if the service never responds', async () => {
    const world = await worldOf(() => new Promise(() => undefined));
    // The default timeout would exceed the test's timeout.
    const { code, of } = await examine(world, {}, '--timeout', '500ms');
    expect(code).toBe(1);
    expect(of('service')?.status).toBe('fail');
    expect(of('ssh')?.status).toBe('pass');
  });

  test.each([
    ['2026-01-15T12:00:59.000Z', 'pass', "60 s behind the service's clock"],
    ['2026-01-15T12:02:00.000Z', 'warn', "clock is 121 s behind the service's clock"],
    ['2026-01-15T11:00:00.000Z', 'warn', "clock is 3600 s ahead of the service's clock"],
  ])('reports a service time of %s as %s', async (date, status, words) => {
    const { code, of } = await examine(await worldOf(serving([], date)));
    expect(code).toBe(0);
    expect(of('clock')).toMatchObject({ status, message: expect.stringContaining(words) });
  });

  test.each([
    ['', 'pass', /^can sign in with laptop \(.*\/\.ssh\/id_ed25519\)$/],
    ['secret', 'warn', /^.*\/\.ssh\/id_ed25519 has a passphrase, and "gpucloud run" can't prompt/],
    [undefined, 'warn', /^no registered SSH key has its private key/],
  ])('reports a registered key with passphrase %j as %s', async (passphrase, status, words) => {
    const at = await mkdtemp(join(tmpdir(), 'gpucloud-test-'));
    const file = join(at, 'key');
    spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase ?? '', '-f', file]);
    const key = { id: 'k1', name: 'laptop', public_key: await readFile(`${file}.pub`, 'utf8') };
    const world = await worldOf(serving([key]));
    if (passphrase !== undefined) {
      await mkdir(join(world.home, '.ssh'));
      await rename(file, join(world.home, '.ssh', 'id_ed25519'));
      await rename(`${file}.pub`, join(world.home, '.ssh', 'id_ed25519.pub'));
    }
    await rm(at, { recursive: true });
    const { code, of } = await examine(world, { PATH: `${bin(world)}:${process.env.PATH}` });
    expect(code).toBe(0);
    expect(of('ssh_key')).toMatchObject({ status, message: expect.stringMatching(words) });
  });

  test('hides the password of a proxy, and fails for a SOCKS proxy', async () => {
    const world = await worldOf();
    const address = { GPUCLOUD_BASE_URL: 'https://api.example.invalid' };
    // The proxy closes each connection.
    const proxy = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const port = (proxy.address() as { port: number }).port;
    const through = await examine(world, {
      ...address,
      https_proxy: `http://ann:hunter2@127.0.0.1:${port}`,
    });
    proxy.close();
    expect(through.of('proxy')).toMatchObject({
      status: 'pass',
      message: `reaches api.example.invalid through http://127.0.0.1:${port}, with credentials`,
    });
    expect(JSON.stringify(through.report)).not.toContain('hunter2');
    const broken = await examine(world, { ...address, https_proxy: 'socks5://ann:hunter2@px' });
    expect(broken.of('proxy')?.status).toBe('fail');
    expect(JSON.stringify(broken.report)).not.toContain('hunter2');
  });

  test('warns about unverified certificates and missing authorities', async () => {
    const world = await worldOf();
    const unchecked = await examine(world, { NODE_TLS_REJECT_UNAUTHORIZED: '0' });
    expect(unchecked.of('certificates')?.status).toBe('warn');
    const { of } = await examine(world, { NODE_EXTRA_CA_CERTS: '/no/such.pem' });
    expect(of('certificates')?.message).toContain("/no/such.pem, which can't be read (ENOENT)");
  });

  const der = (file: string) =>
    `convert it: openssl x509 -inform der -in '${file}' -out '${file}.pem'`;
  const other = () => 'name a file of PEM certificates, or unset the variable';
  test.each([
    ['DER', Buffer.from([0x30, 0x82, 0x05, 0x17, 0x30, 0x82]), 'is in DER format, not PEM', der],
    ['text', 'a certificate\n', 'contains no PEM certificate', other],
    ['a cut certificate', CERTIFICATE.slice(0, 200), 'has a damaged certificate', other],
    ['a key', '-----BEGIN PRIVATE KEY-----\n', 'contains no PEM certificate', other],
    ['nothing', '', 'is empty', other],
    ['folder', undefined, "can't be read (EISDIR)", other],
  ])('warns about a file of certificates that contains %s', async (_what, content, what, hint) => {
    const world = await worldOf();
    const file = join(world.home, 'extra certificates');
    if (content === undefined) await mkdir(file);
    else await writeFile(file, content);
    const { of } = await examine(world, { NODE_EXTRA_CA_CERTS: file });
    expect(of('certificates')).toMatchObject({
      status: 'warn',
      message: `NODE_EXTRA_CA_CERTS names ${file}, which ${what}`,
      hint: hint(file),
    });
  });

  test('accepts a file of PEM certificates', async () => {
    const world = await worldOf();
    const file = join(world.home, 'extra.pem');
    await writeFile(file, `# our proxy\n${CERTIFICATE_KEY}\n${CERTIFICATE}`);
    const { of } = await examine(world, { NODE_EXTRA_CA_CERTS: file });
    expect(of('certificates')?.status).toBe('pass');
  });
});

describe("doctor's check of settings and files", () => {
  test('warns about files that other users can read', async () => {
    const world = await worldOf(well, false);
    const config = join(world.home, 'config');
    await mkdir(config, { mode: 0o755 });
    await mkdir(join(world.home, 'state'), { mode: 0o700 });
    await writeFile(
      join(config, 'config.json'),
      JSON.stringify({
        current: 'work',
        profiles: { work: { base_url: world.service.url, api_key: TEST_KEY } },
      }),
    );
    await chmod(config, 0o755);
    await chmod(join(config, 'config.json'), 0o644);
    const { code, of } = await examine(world);
    expect(code).toBe(0);
    expect(of('profile')?.message).toBe('work, set in the config file');
    expect(of('base_url')?.message).toBe(`${world.service.url}, from the profile`);
    expect(of('api_key')?.message).toBe('svc_sk_test_…, from the profile');
    expect(of('config_folder')).toEqual({
      id: 'config_folder',
      status: 'warn',
      message: `other users can read ${config} (0755), which may contain keys`,
      hint: `chmod 700 ${config}`,
    });
    expect(of('config_file')).toMatchObject({
      status: 'warn',
      hint: `chmod 600 ${config}/config.json`,
    });
    expect(of('state_folder')?.message).toBe(`${world.home}/state, 0700`);
    expect(of('state_writable')?.status).toBe('pass');
    const left = await readdir(join(world.home, 'state'));
    expect(left.filter((name) => name.includes('doctor'))).toEqual([]);
  });

  test.each([0o640, 0o604, 0o660, 0o606])(
    'warns about a config file with mode %o',
    async (mode) => {
      const world = await worldOf();
      const file = join(world.home, 'config', 'config.json');
      await mkdir(join(world.home, 'config'), { mode: 0o700 });
      await writeFile(file, JSON.stringify({ profiles: {} }));
      await chmod(file, mode);
      const { of } = await examine(world);
      expect(of('config_file')).toMatchObject({ status: 'warn', hint: `chmod 600 ${file}` });
    },
  );

  test("fails doctor's check of an invalid config file", async () => {
    const world = await worldOf();
    await mkdir(join(world.home, 'config'), { mode: 0o700 });
    await writeFile(join(world.home, 'config', 'config.json'), `{"api_key":"${TEST_KEY}`);
    const { code, of } = await examine(world, { GPUCLOUD_BASE_URL: '' });
    expect(code).toBe(1);
    expect(of('config_file')).toMatchObject({ status: 'fail' });
    expect(of('profile')?.message).toBe('not checked: the config file is unusable');
    expect(of('base_url')?.message).toBe('not checked: the settings are unusable');
    expect(of('ssh')?.status).toBe('pass');
    // With a key and an address from the environment, commands don't need the file.
    expect((await examine(world)).of('base_url')?.status).toBe('pass');
  });

  test.each([
    ['an unknown profile', {}, ['--profile', 'nope'], 'profile'],
    ['an invalid key', { GPUCLOUD_API_KEY: 'a b' }, [], 'profile'],
    ['a relative state folder', { GPUCLOUD_STATE_DIR: 'here' }, [], 'state_folder'],
    ['a relative config folder', { GPUCLOUD_CONFIG_DIR: 'here' }, [], 'config_file'],
  ])('reports %s in the settings', async (_what, env, argv, id) => {
    const { code, of } = await examine(await worldOf(), env, ...argv);
    expect(code).toBe(1);
    expect(of(id)?.status).toBe('fail');
    expect(of('ssh')?.status).toBe('pass');
  });

  test("fails doctor's check of the state folder if it is a file", async () => {
    const world = await worldOf();
    // A file in place of the folder stops even root.
    await writeFile(join(world.home, 'state'), '');
    const { code, of } = await examine(world);
    expect(code).toBe(1);
    expect(of('state_folder')?.message).toBe(`${world.home}/state is not a folder`);
    expect(of('state_writable')).toMatchObject({ status: 'fail' });
  });

  test('warns about an API key without the usual prefix', async () => {
    const { of } = await examine(await worldOf(), { GPUCLOUD_API_KEY: 'token-0123456789' });
    expect(of('api_key')?.status).toBe('warn');
    expect(of('api_key')?.message).not.toContain('token');
  });

  test.each([
    ['svc_sk_test_0123456789', /^svc_sk_test_…,/],
    ['svc_sk_0123456789abcdef', /^svc_sk_…,/],
    ['svc_sk_abc', /^svc_sk_…,/],
    ['svc_sk_secretpart_', /^svc_sk_…,/],
    ['something', undefined],
  ])('shows no more of the key %s than %s', async (key, prefix) => {
    const { of } = await examine(await worldOf(), { GPUCLOUD_API_KEY: key });
    expect(of('api_key')?.message).toMatch(prefix ?? 'does not start with svc_sk_');
    expect(of('api_key')?.message).not.toContain(key);
  });
});

describe("doctor's check of the computer", () => {
  test.each([
    ['v20.18.1', 'pass'],
    ['v20.18.0', 'fail'],
    ['v18.20.8', 'fail'],
    ['v20.20.2', 'pass'],
    ['v26.0.0', 'pass'],
    [undefined, 'warn'],
  ])('reports Node.js %s as %s', async (nodeVersion, status) => {
    const world = await worldOf();
    const { stdout } = await world.cli(['doctor', '--json'], { ...withSsh(world), nodeVersion });
    const { checks } = JSON.parse(stdout) as { checks: Check[] };
    expect(checks.find(({ id }) => id === 'node')?.status).toBe(status);
  });

  test("prints the executable's path, and whether its completion is installed", async () => {
    const world = await worldOf();
    const file = join(world.home, 'usr', 'bin', 'gpucloud');
    const self = { form: 'executable', file, args: [] } as const;
    const examined = async () => {
      const { stdout } = await world.cli(['doctor', '--json'], { ...withSsh(world), self });
      const { checks } = JSON.parse(stdout) as { checks: Check[] };
      return checks.filter(({ id }) => id !== 'ssh').slice(0, 3);
    };
    const first = [
      { id: 'program', status: 'pass', message: `executable ${file}`, hint: null },
      {
        id: 'node',
        status: 'pass',
        message: 'not needed: gpucloud is a standalone executable',
        hint: null,
      },
    ];
    const completion = { id: 'completion', status: 'pass', message: 'not installed', hint: null };
    expect(await examined()).toEqual([...first, completion]);
    const scripts = join(world.home, 'usr/share/bash-completion/completions');
    await mkdir(scripts, { recursive: true });
    await writeFile(join(scripts, 'gpucloud'), '');
    const brought = { ...completion, message: 'installed with gpucloud' };
    expect(await examined()).toEqual([...first, brought]);
  });

  test('reports a missing, failing or hanging ssh', async () => {
    const world = await worldOf();
    const none = await examine(world, { PATH: join(world.home, 'nowhere') });
    expect(none.code).toBe(0);
    expect(none.of('ssh')).toMatchObject({
      status: 'warn',
      message: 'ssh is not on PATH: you can rent instances, but not connect to them',
    });
    await fakeSsh(world, 'exit 3');
    expect((await examine(world)).of('ssh')?.status).toBe('warn');
    await fakeSsh(world, 'exec /bin/sleep 30');
    expect((await examine(world, {}, '--timeout', '700ms')).of('ssh')?.message).toBe(
      'not finished within --timeout',
    );
  });
});
