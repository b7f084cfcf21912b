import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createWorld, type World } from '../../support/run-cli.ts';
import { ok } from '../../support/service.ts';

const A = '3f0c5d9e-1111-4222-8333-444455556666';
const B = '7a1b2c3d-1111-4222-8333-444455556666';
const C = '9c0d1e2f-1111-4222-8333-444455556666';
const D = 'ad0d1e2f-1111-4222-8333-444455556666';
const PAIR = { id: 'offer-pair', name: 'RTX 4090 ×2', gpu_count: 2 };
const NO_CARD = { id: 'offer-cpu', name: 'CPU', gpu_count: 0 };

let world: World;
/** Makes the service return 500 to reads, or to those of one instance. */
let isDown: boolean | string = false;
afterEach(async () => {
  isDown = false;
  await world.close();
});

/** Creates a service with these instances, and tracks them. */
async function open(...instances: Record<string, unknown>[]): Promise<void> {
  const all = new Map(
    instances.map((one) => [
      one.id,
      {
        ...{ name: 'a100', status: 'ACTIVE', ip_address: '192.168.5.6' },
        ...{ ssh_username: 'root', ssh_port: 22, offer: PAIR, ...one },
      },
    ]),
  );
  world = await createWorld({
    handler: ({ path }) => {
      if (isDown === true || path === `/instances/${isDown}`)
        return { status: 500, body: { message: 'no' } };
      if (path === '/storage/drives') return ok([]);
      if (path === '/users/me') return ok({ id: 'user-2' });
      const found = all.get(path.replace('/instances/', ''));
      return found === undefined ? { status: 404, body: { message: 'no' } } : ok(found);
    },
  });
  await world.cli(['instances', 'track', ...instances.map(({ id }) => String(id))]);
}

const inventory = (...words: string[]) => world.cli(['instances', 'inventory', ...words]);
const text = async (...words: string[]) => {
  const { code, stdout, stderr } = await inventory(...words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
};
const options = (id: string) =>
  `-o HostKeyAlias=${id} -o UserKnownHostsFile=${join(world.home, 'state', 'ssh', 'known_hosts')} -o StrictHostKeyChecking=accept-new -o CheckHostIP=no`;

test('prints an Ansible group per offer inside the group gpucloud', async () => {
  await open(
    { id: A, name: 'no' },
    { id: D, name: 'offer_x' },
    { id: B, name: 'b.example', ssh_port: 2200, offer: { id: 'one', name: 'A100' } },
    { id: C, name: 'alone', offer: null },
  );
  const host = (id: string, more = {}) => ({
    ansible_host: '192.168.5.6',
    ansible_port: 22,
    ansible_user: 'root',
    ansible_ssh_common_args: options(id),
    gpucloud_id: id,
    gpucloud_gpus: 1,
    ...more,
  });
  const pair = (id: string) => host(id, { gpucloud_gpus: 2 });
  const printed = await text();
  expect(parse(printed)).toEqual({
    gpucloud: {
      children: {
        offer_a100: { hosts: { 'b.example': host(B, { ansible_port: 2200 }) } },
        offer_rtx_4090_2: {
          hosts: { no: pair(A), [D]: pair(D) },
        },
      },
      hosts: { alone: host(C) },
    },
  });
  // YAML 1.1 parsers read a bare `no` as false.
  expect(printed).toContain('"no":');
});

test('separates two offers with the same name, and renames groups that Ansible reserves', async () => {
  await open(
    { id: A, name: 'all' },
    { id: B, name: 'second', offer: { id: 'other-id', name: 'RTX 4090 (2)' } },
    { id: C, name: 'third', offer: { id: 'only-id', gpu_count: null } },
  );
  const { children } = parse(await text()).gpucloud;
  const groups = Object.keys(children).sort();
  expect(groups).toEqual([
    'offer_only_id',
    'offer_rtx_4090_2',
    expect.stringMatching(/^offer_rtx_4090_2_(?:other_id|offer_pair)$/),
  ]);
  const names = groups.flatMap((group) => Object.keys(children[group].hosts));
  expect(names.sort()).toEqual([A, 'second', 'third']);
  isDown = C;
  const { code, stderr } = await inventory();
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: `warning: Could not read 1 of 3 instances: The service failed to show instance ${C} (500): no.\n`,
  });
});

test('prints an ssh command per host for GNU parallel, with a slot per GPU', async () => {
  await open({ id: A, ip_address: '2001:db8::5', ssh_port: 2200 });
  expect(await text('--format', 'parallel')).toBe(
    `2/ssh ${options(A)} -o HostName=2001:db8::5 -p 2200 -l root gpucloud-a100\n`,
  );
});

test('prints ssh-config host names without dots for MPI', async () => {
  await open({ id: A }, { id: B, name: 'b.example', offer: null });
  expect((await text('--format', 'hostfile')).split('\n').sort()).toEqual(
    [`gpucloud-a100 slots=2`, `gpucloud-${B} slots=1`, ''].sort(),
  );
});

test('prints the same ssh configuration as instances ssh-config', async () => {
  const stopped = { id: C, name: 'off', status: 'STOPPED' };
  await open({ id: A }, { id: B, name: 'b.example' }, stopped);
  const { stdout } = await world.cli(['instances', 'ssh-config']);
  expect(stdout.match(/^Host \S+/gm)?.sort()).toEqual(
    ['a100', 'b.example', 'off'].map((name) => `Host gpucloud-${name}`),
  );
  expect(await text('--format', 'ssh-config')).toBe(stdout);
  for (const flags of [['-o', 'csv'], ['--json'], ['-q'], ['--columns', 'id,user,port']])
    await world.cli(['instances', 'ssh-config', ...flags]);
});

test('applies --user, --identity and ssh options in each format', async () => {
  await open({ id: A, ssh_username: null });
  const key = join(world.home, 'my key');
  await writeFile(key, '');
  const flags = ['--user', 'ann', '-i', key, '--ssh-option', 'ProxyJump=bastion', A];
  expect(await text(...flags, '--format', 'ssh-config')).toContain(
    `\n  ProxyJump bastion\n  HostName 192.168.5.6\n  Port 22\n  User ann\n  IdentityFile "${key}"\n  IdentitiesOnly yes\n`,
  );
  expect(await text(...flags, '--ssh-arg=-A', '--format', 'parallel')).toContain(
    `2/ssh -A -o ProxyJump=bastion -i '${key}' -o IdentitiesOnly=yes -o HostKeyAlias=`,
  );
  const { hosts } = parse(await text(...flags, '--ssh-arg=-A')).gpucloud.children.offer_rtx_4090_2;
  expect(hosts.a100).toMatchObject({
    ansible_user: 'ann',
    ansible_ssh_common_args: expect.stringContaining(`-i '${key}' -o IdentitiesOnly=yes`),
    ansible_ssh_extra_args: '-A',
  });
});

test.each([
  [['--format', 'hostfile', '--user', 'ann']],
  [['--format', 'hostfile', '--ssh-arg=-A']],
  [['--format', 'ssh-config', '--ssh-arg=-A']],
  [['--format', 'slurm']],
])('rejects instances inventory %j before any request', async (argv) => {
  await open({ id: A });
  const { code, requests } = await inventory(...argv);
  expect({ code, requests }).toEqual({ code: 2, requests: [] });
});

test('prints running instances, and exits with 5 for a stopped instance', async () => {
  await open({ id: A }, { id: B, name: 'off', status: 'STOPPED' });
  for (const flags of [[], ['--json']]) await inventory('off', ...flags);
  const { stdout } = await inventory('a100', 'off', A, '--format', 'hostfile');
  expect(await text('--format', 'hostfile')).toBe(stdout);
});

test('prints an array with --json, without any secret', async () => {
  await open({ id: A, connection_info: { secrets: { token: 'hunter2' } } });
  const outputs = await Promise.all(
    ['ansible', 'parallel', 'hostfile', 'ssh-config'].map((format) => text('--format', format)),
  );
  const json = await text('--json');
  expect([...outputs, json].join('')).not.toContain('hunter2');
});

test('prints no host without an instance', async () => {
  await open({ id: A, ip_address: null });
  for (const flags of [[], ['--json']]) await inventory(...flags);
  await world.cli(['instances', 'ssh-config']);
});

test('omits a TERMINATING instance, even with an address', async () => {
  await open({ id: A, status: 'TERMINATING' }, { id: B, name: 'b', offer: NO_CARD });
  expect(await text('--format', 'hostfile')).toBe('gpucloud-b slots=1\n');
});

test('prints nothing if no instance can be read, and keeps the ssh-config file', async () => {
  await open({ id: A });
  const install = ['instances', 'ssh-config', '--install'];
  expect(await world.cli(install)).toMatchObject({ code: 0 });
  const path = join(world.home, 'state', 'ssh', '@environment.conf');
  const before = await readFile(path, 'utf8');
  expect(before).toContain(`Host gpucloud-a100 gpucloud-${A}`);
  isDown = true;
  const { code } = await inventory();
  expect(code).not.toBe(0);
  expect((await world.cli(install)).code).not.toBe(0);
  await world.cli(install, { hasHome: false });
  expect(await readFile(path, 'utf8')).toBe(before);
});

test('passes --ssh-arg only to ssh, since Ansible also copies with sftp and scp', async () => {
  await open({ id: A, offer: null });
  const { gpucloud } = parse(await text('--ssh-arg=-4'));
  expect(gpucloud.hosts.a100).toMatchObject({
    ansible_ssh_common_args: options(A),
    ansible_ssh_extra_args: '-4',
  });
  expect(JSON.parse(await text('--json'))).toMatchObject([{ gpus: 1, offer: null }]);
});

test('ssh-config --install leaves out a host name that another profile has for another instance', async () => {
  await open({ id: A }, { id: B });
  const install = ['instances', 'ssh-config', '--install', '-q'];
  await world.cli(['instances', 'untrack', B, '--yes']);
  await world.cli(['profiles', 'add', 'lab']);
  const first = { code: 0, stdout: 'gpucloud-a100\n', stderr: '' };
  expect(await world.cli(install)).toMatchObject(first);
  // The same instance of the same account.
  expect(await world.cli(['--profile', 'lab', ...install])).toMatchObject(first);
  expect(await world.cli(install)).toMatchObject(first);

  const env = { GPUCLOUD_API_KEY: 'svc_sk_test_other_0123456789' };
  await world.cli(['--profile', 'lab', 'instances', 'track', B], { env });
  const folder = join(world.home, 'state', 'ssh');
  expect(await world.cli(['--profile', 'lab', ...install], { env })).toMatchObject({
    code: 0,
    stdout: `gpucloud-${B}\n`,
    stderr: `warning: gpucloud-a100 already connects to an instance of GPUCLOUD_API_KEY's account, so it was left out. To connect to a100: ssh gpucloud-${B}. To use the name here, delete ${join(folder, '@environment.conf')} and install again.\n`,
  });
  const hosts = async (file: string) =>
    (await readFile(join(folder, file), 'utf8')).match(/^Host .+$/gm);
  expect(await hosts('lab.conf')).toEqual([`Host gpucloud-${B}`]);
  expect(await hosts('@environment.conf')).toEqual([`Host gpucloud-a100 gpucloud-${A}`]);
  expect(await world.cli(install)).toMatchObject(first);
});
