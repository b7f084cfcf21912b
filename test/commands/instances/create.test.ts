import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createSandboxWorld, type SandboxWorld } from '../../support/run-cli.ts';
import { HARDWARE, IMAGE, OFFER, OFFERED } from '../../support/sandbox-ids.ts';
import { sshPublicKey } from '../../support/ssh-key.ts';

let world: SandboxWorld;

beforeEach(async () => {
  world = await createSandboxWorld();
});

test.each([['-q'], ['--json']])(
  'prints the ID on stderr if stdout is closed or /dev/null: %s',
  async (flag) => {
    const nowhere = await createSandboxWorld();
    const argv = ['instances', 'create', 'box', ...HARDWARE, flag];
    await nowhere.cli(argv, { isStdoutNull: true });
  },
);

describe('instances create', () => {
  test('rents, waits, and prints the instance and the command to terminate it', async () => {
    const { requests } = await world.cli([
      ...['instances', 'create', 'trainer', ...HARDWARE, '--wait'],
    ]);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: '/instances',
      body: { offer_id: OFFER, image_id: IMAGE, instance_name: 'trainer' },
    });
    expect(requests.slice(1).every(({ method }) => method === 'GET')).toBe(true);
  });

  test('prints the ssh command for an instance with a key', async () => {
    const key = ['ssh-keys', 'add', '-', '--name', 'laptop'];
    await world.cli(key, { stdin: sshPublicKey('ssh-ed25519') });
    const argv = ['instances', 'create', 'trainer', ...OFFERED, '--ssh-key', 'laptop', '--wait'];
    await world.cli(argv);
  });

  test.each([
    ['a template', ['--template', 'jupyterlab']],
    ['a container', ['--docker-image', 'nginx']],
  ])('omits the key warning for %s', async (_what, flags) => {
    const argv = ['instances', 'create', 'trainer', ...OFFERED, ...flags, '--wait'];
    await world.cli(argv);
  });

  test('prints the instance as one JSON document', async () => {
    await world.cli([...['instances', 'create', 'trainer', ...HARDWARE, '--json']]);
  });

  test('lists all missing flags in one error and sends nothing', async () => {
    const { code, stdout, requests } = await world.cli(['instances', 'create']);

    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
  });

  test.each([
    [['ab']],
    [['x'.repeat(51)]],
    [['1ab']],
    [['ab-']],
    [['a_b']],
    [['машина']],
    [['box', '-p', '0:80']],
    [['box', '-p', '80:65536']],
    [['box', '-p', '1.5:80']],
    [['box', '-p', '0x10:80']],
    [['box', '-p', '1e3:80']],
    [['box', '-p', '80:80/icmp']],
    [['box', '--shm-size', '0.09']],
    [['box', '--offer', '..']],
    [['box', '--image', 'a/b']],
    [['box', '--offer', 'a?b']],
    [['box', '--offer', '']],
    [['box', '--ssh-key', '']],
    [['box', '--template', '']],
    [['box', '--drive', '']],
    [['box', '--max-price', '1e3']],
    [['box', '--max-price', '0']],
    [['box', '--max-price', '-5']],
    [['box', '--wait-timeout', '5']],
    [['box', '--wait-timeout', '5m']],
    [['box', '--wait=later']],
    [['box', '-v', 'data']],
    [['box', '-e', '1A=x', '--docker-image', 'i']],
    [['box', '-e', 'NOT_SET_HERE', '--docker-image', 'i']],
    [['box', '-p', '80:80']],
    [['box', '--docker-image', ' ']],
    [['box', '--name', 'other']],
    [['box', '-v', '/a:/b:ro', '--docker-image', 'i']],
    [['box', '-p', '80:80', '-p', '80:81', '--docker-image', 'i']],
    [['box', '-f', '/no/such/file']],
  ])('rejects create %j before any request', async (argv) => {
    const flags = ['--offer', '--image'].flatMap((flag, at) =>
      argv.includes(flag) ? [] : [flag, HARDWARE[at * 2 + 1] ?? ''],
    );
    const { code, stdout, requests } = await world.cli([
      ...['instances', 'create', ...argv, ...flags],
    ]);

    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
  });

  test('builds docker_config from Docker-style flags', async () => {
    await writeFile(join(world.home, 'vars'), '# comment\n\nA=from file\nB=2\n');
    const { requests } = await world.cli(
      [
        ...['instances', 'create', 'web', ...HARDWARE, '--docker-image', 'nginx:1'],
        ...['--docker-command', 'nginx -g daemon', '--shm-size', '0.5'],
        ...['-p', '8080:80,name=web,main', '-p', '53:53/udp'],
        ...['--env-file', join(world.home, 'vars'), '-e', 'A=from flag', '-e', 'TOKEN'],
        ...['-v', '/data:/mnt'],
      ],
      { env: { TOKEN: 'from-environment' } },
    );
    expect(requests[0]?.body).toEqual({
      offer_id: OFFER,
      image_id: IMAGE,
      instance_name: 'web',
      docker_config: {
        image: 'nginx:1',
        run_command: 'nginx -g daemon',
        shm_size_gb: 0.5,
        ports: [
          { internal_port: 80, external_port: 8080, protocol: 'TCP', name: 'web', is_main: true },
          { internal_port: 53, external_port: 53, protocol: 'UDP' },
        ],
        env: [
          { key: 'A', value: 'from flag' },
          { key: 'B', value: '2' },
          { key: 'TOKEN', value: 'from-environment' },
        ],
        volumes: [{ host_path: '/data', container_path: '/mnt' }],
      },
    });
  });

  test('accepts an unusual variable name with --any-env-key', async () => {
    const argv = [
      ...['instances', 'create', 'web', ...HARDWARE, '--docker-image', 'i', '-e', 'my.key=1'],
      ...['--any-env-key', '--dry-run', '--json', '--show-secrets'],
    ];
    const { stdout } = await world.cli(argv);
    expect(JSON.parse(stdout).request.docker_config.env).toEqual([{ key: 'my.key', value: '1' }]);
  });

  test('prints the masked request with --dry-run, and sends nothing', async () => {
    const argv = [
      ...['instances', 'create', 'web', ...HARDWARE, '--docker-image', 'i', '-e', 'PW=hunter2'],
      '--dry-run',
    ];
    const { code, requests } = await world.cli([...argv, '--json']);

    expect({ code, requests }).toEqual({ code: 0, requests: [] });
    await world.cli(argv);
  });
});
