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
import { describe, expect, test, vi } from 'vitest';
import { CliError } from '../../../src/errors.ts';
import { TEST_KEY } from '../../support/run-cli.ts';
import { sent } from '../../support/service.ts';
import {
  bin,
  type Check,
  examine,
  fakeSsh,
  serving,
  unusual,
  well,
  withSsh,
  worldOf,
} from './world.ts';

describe('doctor', () => {
  test('exits with 130 on Ctrl-C instead of reporting a failed check', async () => {
    const world = await worldOf(() => new Promise(() => undefined));
    await fakeSsh(world, `trap '' INT; echo > "${world.home}/asked"; while :; do sleep 0.05; done`);
    const [first, second] = [new AbortController(), new AbortController()];
    const run = world.cli(['doctor', '--json'], {
      env: { PATH: `${bin(world)}:${process.env.PATH}`, LANG: 'C.UTF-8' },
      interrupts: { first: first.signal, second: second.signal },
    });
    await vi.waitFor(() => access(join(world.home, 'asked')), 20_000);
    first.abort(new CliError('interrupted', 'Interrupted.'));
    const { stderr } = await run;
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'interrupted' });
  });

  test('prints every check of doctor', async () => {
    const world = await worldOf();
    const { code, stderr, requests } = await world.cli(['doctor'], withSsh(world));

    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'No check failed. Warnings: node, ssh_key.\n',
    });
    expect(sent(requests)).toEqual(['GET /users/me', 'GET /ssh-keys']);
    await world.cli(['doctor', '--color', 'always'], withSsh(world));
  });

  test('checks the built-in sandbox without a key', async () => {
    const world = await worldOf(() => 'hangUp', false);
    const { of } = await examine(world, {}, '--profile', 'sandbox');
    expect(of('profile')?.message).toBe('sandbox, from --profile');
    expect(of('base_url')?.message).toBe('not needed: the sandbox uses its built-in service');
    expect(of('api_key')?.message).toBe('not needed');
    expect(of('proxy')?.message).toBe('not needed: the sandbox runs on this computer');
    expect(of('account')?.message).toMatch(/^the key belongs to sandbox-[0-9a-f]{8}@example\.com$/);
    expect(of('clock')?.status).toBe('pass');
  });

  test('prints the checks as csv, IDs and selected columns', async () => {
    const world = await worldOf();
    await world.cli(
      ['doctor', '-o', 'csv', '--columns', 'id,status', '--no-header'],
      withSsh(world),
    );
    await world.cli(['doctor', '--json', '--sort', '-id', '--query', '[].id'], withSsh(world));
    const lines = (await world.cli(['doctor', '-q'], withSsh(world))).stdout.split('\n');
    expect(lines).toContain('clock');
    const slip = await world.cli(['doctor', '--columns', 'state'], withSsh(world));
    expect(slip).toMatchObject({ code: 2, stdout: '', requests: [] });
  });
});

describe("doctor's service check", () => {
  test('stops all checks at --timeout if the service never responds', async () => {
    const world = await worldOf(() => new Promise(() => undefined));
    // The default timeout would exceed the test's timeout.
    const { of } = await examine(world, {}, '--timeout', '500ms');
    expect(of('service')?.message).toBe('not finished within --timeout');
    expect(of('ssh')?.status).toBe('pass');
    await fakeSsh(world, 'exec /bin/sleep 30');
    const hanging = await examine(world, {}, '--timeout', '700ms');
    expect(hanging.of('ssh')?.message).toBe('not finished within --timeout');
  });

  test.each([
    ['', 'pass can sign in with laptop ($HOME/.ssh/id_ed25519)'],
    [
      'secret',
      'warn $HOME/.ssh/id_ed25519 has a passphrase, and "gpucloud run" can\'t prompt for it → add it to the SSH agent: ssh-add $HOME/.ssh/id_ed25519',
    ],
    [
      undefined,
      'warn no registered SSH key has its private key in ~/.ssh or in the SSH agent → add a key of this computer: gpucloud ssh-keys add',
    ],
  ])('reports a registered key with passphrase %j: %s', async (passphrase, line) => {
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
    const env = { PATH: `${bin(world)}:${process.env.PATH}`, LANG: 'C.UTF-8' };
    const { report } = await examine(world, env);
    expect(unusual(report, world)).toContain(`ssh_key ${line}`);
    await world.cli(['doctor'], { env, nodeVersion: 'v26.0.0' });
  });

  test('hides the password of a proxy', async () => {
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
    const { of } = await examine(world);
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
});
