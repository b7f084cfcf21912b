import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { ok } from '../support/service.ts';
import { createSshSite, type SshSite } from '../support/ssh-world.ts';
import { type Sshd, USER } from '../support/sshd.ts';

const IDS = [1, 2, 3, 4].map((n) => `3f0c5d9e-1111-4222-8333-44445555666${n}`);
const NAMES = ['a100-1', 'a100-2', 'box.three', 'yes'];

describe('instances inventory', { timeout: 60_000, ...needs('ssh') }, () => {
  let site: SshSite;
  let servers: Sshd[];
  let world: World;
  beforeAll(async () => {
    site = await createSshSite();
    servers = await Promise.all(IDS.map(() => site.start()));
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await site.close();
  });
  beforeEach(async () => {
    world = await createWorld({
      handler: ({ path }) => {
        if (path === '/storage/drives') return ok([]);
        const at = IDS.indexOf(path.replace('/instances/', ''));
        return ok({
          id: IDS[at],
          name: NAMES[at],
          status: 'ACTIVE',
          ip_address: '127.0.0.1',
          ssh_username: USER,
          ssh_port: servers[at]?.port,
          offer: { id: `offer-${at % 2}`, name: `A100 ×${1 + (at % 2)}`, gpu_count: 1 + (at % 2) },
        });
      },
    });
    await world.cli(['instances', 'track', ...IDS]);
  });

  /** Writes an inventory to a file and returns the file's path. */
  async function inventory(format: string): Promise<string> {
    // A hostfile contains only names, so it needs no key.
    const how = format === 'hostfile' ? [] : ['--identity', site.clientKey];
    const argv = ['instances', 'inventory', '--format', format, ...how];
    const { code, stdout, stderr } = await world.cli(argv);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const path = join(world.home, `inventory.${format === 'ansible' ? 'yaml' : format}`);
    await writeFile(path, stdout);
    return path;
  }

  function start(program: string, argv: readonly string[]) {
    const env = {
      PATH: process.env.PATH,
      HOME: world.home,
      ANSIBLE_LOCAL_TEMP: join(world.home, 'local'),
      ANSIBLE_REMOTE_TEMP: join(world.home, 'remote'),
      OMPI_ALLOW_RUN_AS_ROOT: '1',
      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
      LC_ALL: 'C.UTF-8',
    };
    return promisify(execFile)(program, argv, { env, cwd: world.home });
  }

  test('lets Ansible ping instances and run a playbook', needs('ansible'), async () => {
    const hosts = await inventory('ansible');
    const limit = ['--limit', '!yes'];
    const ping = await start('ansible', ['-i', hosts, 'gpucloud', '-m', 'ping', '-o', ...limit]);
    expect(ping.stdout.match(/^\S+ \| SUCCESS/gm)?.sort()).toEqual(
      NAMES.slice(0, 3).map((name) => `${name} | SUCCESS`),
    );
    const play = join(world.home, 'play.yaml');
    const told = join(world.home, 'told-{{ inventory_hostname }}');
    await writeFile(
      play,
      `- hosts: offer_a100_1\n  gather_facts: false\n  tasks:\n    - copy: { content: '{{ gpucloud_gpus }}', dest: '${told}' }\n`,
    );
    const { stdout } = await start('ansible-playbook', ['-i', hosts, play]);
    expect(stdout).toMatch(/a100-1 +: ok=1 +changed=1 +unreachable=0 +failed=0/);
    expect(stdout).toMatch(/box\.three +: ok=1 +changed=1 +unreachable=0 +failed=0/);
  });

  test('lets mpirun connect with the names of ssh-config', needs('mpirun'), async () => {
    const hostfile = await inventory('hostfile');
    const config = await inventory('ssh-config');
    const { stdout } = await start('mpirun', [
      ...['--mca', 'plm_rsh_agent', `ssh -F ${config}`, '--hostfile', hostfile],
      ...[
        '--host',
        'gpucloud-a100-1,gpucloud-a100-2',
        '-np',
        '2',
        'sh',
        '-c',
        'echo "$OMPI_COMM_WORLD_RANK"',
      ],
    ]);
    expect(stdout.trim().split('\n').sort()).toEqual(['0', '1']);
  });
});
