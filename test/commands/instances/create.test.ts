import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSandboxWorld, createWorld, type SandboxWorld } from '../../support/run-cli.ts';
import { HARDWARE, IMAGE, OFFER } from '../../support/sandbox-ids.ts';
import { ok } from '../../support/service.ts';
import { sshPublicKey } from '../../support/ssh-key.ts';
import { errorOf } from '../../support/stderr-lines.ts';

let world: SandboxWorld;

beforeEach(async () => {
  world = await createSandboxWorld();
});
afterEach(() => world.close());

/** The open requests and the instances, by their own files. */
async function journal(home: string): Promise<Record<string, unknown>[]> {
  const root = join(home, 'state', 'journal');
  const records: Record<string, unknown>[] = [];
  for (const name of await readdir(root, { recursive: true })) {
    const [, place] = /(requests|instances)\/[^/]+\.json$/.exec(name) ?? [];
    if (place === undefined) continue;
    records.push({ place, ...JSON.parse(await readFile(join(root, name), 'utf8')) });
  }
  return records;
}

describe('instances create', () => {
  test('rents, waits, shows the machine and how to stop paying', async () => {
    const { code, stdout, stderr, requests } = await world.cli([
      'instances',
      'create',
      'trainer',
      ...HARDWARE,
      '--wait',
    ]);

    expect(code).toBe(0);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: '/instances',
      body: { offer_id: OFFER, image_id: IMAGE, instance_name: 'trainer' },
    });
    expect(requests.slice(1).every(({ method }) => method === 'GET')).toBe(true);
    expect(stdout).toContain('Name:              trainer\n');
    expect(stdout).toContain('Status:            ACTIVE\n');
    expect(stdout).toContain('Price per hour:  89.90\n');
    expect(stdout).toMatch(/SSH: {13}ssh root@203\.0\.113\.\d+\n/);
    expect(stderr).toMatch(
      /^Price per hour: unknown until created; --max-price sets a limit\.\nwarning: No SSH key is on trainer, and the published API has no way to add one: --ssh-key does at creation\. To end it: gpucloud instances terminate [0-9a-f-]{36}\nRented trainer \([0-9a-f-]{36}\)\.\nSee it: {6}gpucloud instances get trainer\nStop paying: gpucloud instances terminate trainer\n$/,
    );
  });

  test('a machine with a key on it is told how to connect', async () => {
    const key = ['ssh-keys', 'add', '-', '--name', 'laptop'];
    await world.cli(key, { stdin: sshPublicKey('ssh-ed25519') });
    const argv = ['instances', 'create', 'trainer', ...HARDWARE, '--ssh-key', 'laptop', '--wait'];
    const { code, stderr } = await world.cli(argv);
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain('warning');
    expect(stderr).toContain('Connect:     gpucloud instances ssh trainer\n');
  });

  test.each([
    ['a template', ['--template', 'jupyterlab']],
    ['a container', ['--docker-image', 'nginx']],
  ])('a machine with %s may be meant for its endpoints, and needs no key', async (_what, flags) => {
    const argv = ['instances', 'create', 'trainer', ...HARDWARE, ...flags, '--wait'];
    const { code, stderr } = await world.cli(argv);
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain('warning');
    expect(stderr).toContain('See it:      gpucloud instances get trainer\n');
  });

  test.each([
    ['tells no keys', {}, 0],
    ['names a key, as where the default one was put on it', { ssh_keys: [{ id: 'k1' }] }, 0],
    ['is of Windows', { ssh_keys: [], base_image: { os_type: 'windows' } }, 0],
    ['names none', { ssh_keys: [], base_image: { os_type: 'linux' } }, 1],
  ])('what the answer says of keys decides: one that %s', async (_what, more, warnings) => {
    const id = '3f0c5d9e-1111-4222-8333-444455556666';
    const data = { id, name: 'trainer', status: 'PROVISIONING', ...more };
    const near = await createWorld({
      handler: () => ok(data, 201),
    });
    const { code, stderr } = await near.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    await near.close();
    expect(code, stderr).toBe(0);
    expect(stderr.split('No SSH key is on trainer')).toHaveLength(warnings + 1);
  });

  test('prints the machine as one JSON document', async () => {
    const { code, stdout, stderr } = await world.cli([
      'instances',
      'create',
      'trainer',
      ...HARDWARE,
      '--json',
    ]);

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'trainer',
      status: 'PROVISIONING',
      price_per_hour_snapshot: '89.90',
    });
    expect(stderr).not.toContain('error');
  });

  test('-q prints the id alone', async () => {
    const { stdout } = await world.cli(['instances', 'create', 'trainer', ...HARDWARE, '-q']);
    expect(stdout).toMatch(/^[0-9a-f-]{36}\n$/);
  });

  test('names all that is missing at once and sends nothing', async () => {
    const { code, stdout, stderr, requests } = await world.cli(['instances', 'create']);

    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
    expect(stderr).toBe(
      'error: instances create: missing NAME (or --name), --offer, --image (offers and images have no list in the published API; those known here: gpucloud catalog list)\n',
    );
  });

  test('without --image names it alone', async () => {
    const { code, stderr, requests } = await world.cli([
      'instances',
      'create',
      'trainer',
      '--offer',
      OFFER,
    ]);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toContain('missing --image (');
  });

  test.each([
    [['ab'], 'NAME "ab"'],
    [['x'.repeat(51)], 'NAME "xxx'],
    [['1ab'], 'NAME "1ab"'],
    [['ab-'], 'NAME "ab-"'],
    [['a_b'], 'NAME "a_b"'],
    [['машина'], 'NAME "машина"'],
    [['box', '-p', '0:80'], '--port "0:80"'],
    [['box', '-p', '80:65536'], '--port "80:65536"'],
    [['box', '-p', '1.5:80'], '--port "1.5:80"'],
    [['box', '-p', '0x10:80'], '--port "0x10:80"'],
    [['box', '-p', '1e3:80'], '--port "1e3:80"'],
    [['box', '-p', '80:80/icmp'], '--port "80:80/icmp"'],
    [['box', '--shm-size', '0.09'], '--shm-size "0.09"'],
    [['box', '--offer', '..'], '--offer ".."'],
    [['box', '--image', 'a/b'], '--image "a/b"'],
    [['box', '--offer', 'a?b'], '--offer "a?b"'],
    [['box', '--offer', ''], '--offer ""'],
    [['box', '--max-price', '1e3'], '--max-price "1e3"'],
    [['box', '--max-price', '0'], '--max-price "0"'],
    [['box', '--max-price', '-5'], '--max-price "-5"'],
    [['box', '--wait-timeout', '5'], '--wait-timeout "5"'],
    [['box', '--wait=later'], '--wait "later"'],
    [['box', '-v', 'data'], '--volume "data"'],
    [['box', '-e', '1A=x', '--docker-image', 'i'], '--env "1A"'],
    [['box', '-e', 'NOT_SET_HERE', '--docker-image', 'i'], '"NOT_SET_HERE" has no value'],
    [['box', '-p', '80:80'], '--docker-image is missing'],
    [['box', '--docker-image', ' '], '--docker-image ""'],
    [['box', '--name', 'other'], 'NAME "box" and --name "other" differ'],
    [['box', '-v', '/a:/b:ro', '--docker-image', 'i'], '--volume "/a:/b:ro"'],
    [['box', '-p', '80:80', '-p', '80:81', '--docker-image', 'i'], 'is published twice'],
    [['box', '-f', '/no/such/file'], '--file "/no/such/file": the file can\'t be read (ENOENT)'],
  ])('create %j is refused before any request', async (argv, words) => {
    const flags = ['--offer', '--image'].flatMap((flag, at) =>
      argv.includes(flag) ? [] : [flag, HARDWARE[at * 2 + 1] ?? ''],
    );
    const { code, stdout, stderr, requests } = await world.cli([
      'instances',
      'create',
      ...argv,
      ...flags,
    ]);

    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
    expect(stderr).toContain(words);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  test('sends a container as docker writes it', async () => {
    await writeFile(join(world.home, 'vars'), '# comment\n\nA=from file\nB=2\n');
    const { code, requests } = await world.cli(
      [
        'instances',
        'create',
        'web',
        ...HARDWARE,
        '--docker-image',
        'nginx:1',
        '--docker-command',
        'nginx -g daemon',
        '--shm-size',
        '0.5',
        '-p',
        '8080:80,name=web,main',
        '-p',
        '53:53/udp',
        '--env-file',
        join(world.home, 'vars'),
        '-e',
        'A=from flag',
        '-e',
        'TOKEN',
        '-v',
        '/data:/mnt',
      ],
      { env: { TOKEN: 'from-environment' } },
    );

    expect(code).toBe(0);
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

  test('--any-env-key sends a key that breaks the usual rule', async () => {
    const argv = [
      'instances',
      'create',
      'web',
      ...HARDWARE,
      '--docker-image',
      'i',
      '-e',
      'my.key=1',
      '--any-env-key',
      '--dry-run',
      '--json',
      '--show-secrets',
    ];
    const { code, stdout } = await world.cli(argv);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).docker_config.env).toEqual([{ key: 'my.key', value: '1' }]);
  });

  test('resolves names of templates, drives and keys to ids', async () => {
    const api = {
      'x-api-key': world.env.GPUCLOUD_API_KEY ?? '',
      'content-type': 'application/json',
    };
    const post = async (path: string, body: unknown) => {
      const response = await fetch(`${world.service.url}${path}`, {
        method: 'POST',
        headers: api,
        body: JSON.stringify(body),
      });
      return (await response.json()) as { data: { id: string } };
    };
    const drive = await post('/storage/drives', { name: 'data', size_gb: 10 });
    const templates = (await (
      await fetch(`${world.service.url}/templates`, { headers: api })
    ).json()) as { data: { id: string; slug: string }[] };
    const template = templates.data[0];

    const { code, requests } = await world.cli([
      'instances',
      'create',
      'lab',
      ...HARDWARE,
      '--template',
      template?.slug ?? '',
      '--drive',
      'data',
    ]);

    expect(code).toBe(0);
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /templates',
      'GET /storage/drives',
      'POST /instances',
    ]);
    expect(requests[2]?.body).toMatchObject({
      template_id: template?.id,
      storage_drive_id: drive.data.id,
    });
  });

  test('a name that nothing has is not found, and nothing is rented', async () => {
    const { code, stderr, requests } = await world.cli([
      'instances',
      'create',
      'lab',
      ...HARDWARE,
      '--ssh-key',
      'nobody',
    ]);
    expect(code).toBe(3);
    expect(stderr).toContain('--ssh-key "nobody": there is no SSH key with that name or id.');
    expect(requests.map(({ method }) => method)).toEqual(['GET']);
  });

  test('--dry-run prints the request with its secrets masked and sends nothing', async () => {
    const argv = [
      'instances',
      'create',
      'web',
      ...HARDWARE,
      '--docker-image',
      'i',
      '-e',
      'PW=hunter2',
      '--dry-run',
    ];
    const { code, stdout, requests } = await world.cli([...argv, '--json']);

    expect({ code, requests }).toEqual({ code: 0, requests: [] });
    expect(JSON.parse(stdout)).toEqual({
      offer_id: OFFER,
      image_id: IMAGE,
      instance_name: 'web',
      docker_config: { image: 'i', env: [{ key: 'PW', value: '********' }] },
    });
    const people = await world.cli(argv);
    expect(people.stdout).toContain('POST /instances (not sent)');
    expect(people.stdout).not.toContain('hunter2');
  });

  test('takes a machine from a file, and flags win over it', async () => {
    const file = join(world.home, 'box.yaml');
    await writeFile(
      file,
      `instance_name: from-file\noffer_id: ${OFFER}\nimage_id: ${IMAGE}\ndocker_config:\n  image: nginx\n  shm_size_gb: 1\n`,
    );
    const { requests } = await world.cli([
      'instances',
      'create',
      'from-flag',
      '-f',
      file,
      '--shm-size',
      '2',
    ]);
    expect(requests[0]?.body).toEqual({
      instance_name: 'from-flag',
      offer_id: OFFER,
      image_id: IMAGE,
      docker_config: { image: 'nginx', shm_size_gb: 2 },
    });
  });

  test('takes a machine from stdin', async () => {
    const box = { instance_name: 'piped', offer_id: OFFER, image_id: IMAGE };
    const { code, requests } = await world.cli(['instances', 'create', '-f', '-'], {
      stdin: JSON.stringify(box),
    });
    expect(code).toBe(0);
    expect(requests[0]?.body).toEqual(box);
  });

  test.each([
    ['offer_id: 5', 'line 1: offer_id is not of the type string'],
    [
      'offer_id: a\ninstance_name: ab',
      'line 2: instance_name breaks the rule: an instance name is 3 to 50 characters long',
    ],
    ['offer_id: a\n\ncolour: red', 'line 3: colour is not documented'],
    [
      '{"docker_config": {\n"ports": [\n{"internal_port": 1},\n{"internal_port": 0}]}}',
      'line 4: docker_config.ports.1.internal_port is less than 1',
    ],
    ['docker_config:\n  env:\n    - {value: x}', 'line 3: docker_config.env.0.key is missing'],
    [
      'docker_config:\n  env:\n    - {key: a b, value: x}',
      'line 3: docker_config.env.0.key breaks the rule',
    ],
    ['offer_id: a\na: [', 'line 2: not YAML or JSON'],
    ['offer_id: a\noffer_id: b', 'line 2: a field stands there twice'],
    ['{"offer_id": "a", "offer_id": "b"}', 'line 1: a field stands there twice'],
    [
      'a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c]',
      '',
    ],
    [
      'name: box\ndrive: d\nssh_keys: [1]\ndocker_config:\n  env:\n    - {key: a b, value: x}',
      'line 1: name is not documented (Did you mean instance_name?); line 2: drive is not documented (Did you mean storage_drive_id?); line 3: ssh_keys.0 is not of the type string; line 6: docker_config.env.0.key breaks the rule',
    ],
    [
      'name: box\ndocker_config:\n  env:\n    - {key: a b, value: x}',
      'line 1: name is not documented (Did you mean instance_name?); line 4: docker_config.env.0.key breaks the rule',
    ],
    [
      'offer_id: a\n---\noffer_id: b',
      'line 2: a second document begins here; a file holds one instance\n',
    ],
    ['[1]', 'line 1: the file is not of the type object'],
    ['', 'line 1: the file is not of the type object'],
  ])('a file with %j is refused', async (content, words) => {
    const argv = ['instances', 'create', '-f', '-', ...HARDWARE, '--name', 'box'];
    const { code, stderr, requests } = await world.cli(argv, { stdin: content });
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toContain(words === '' ? '--file "-": its aliases' : `--file "-", ${words}`);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  test('--schema prints the JSON Schema of such a file', async () => {
    const { code, stdout, requests } = await world.cli(['instances', 'create', '--schema']);
    expect({ code, requests }).toEqual({ code: 0, requests: [] });
    const schema = JSON.parse(stdout);
    expect(Object.keys(schema.properties)).toEqual([
      'offer_id',
      'image_id',
      'instance_name',
      'ssh_keys',
      'template_id',
      'storage_drive_id',
      'docker_config',
    ]);
    expect(schema).toMatchObject({
      additionalProperties: false,
      $schema: 'https://json-schema.org/draft/2020-12/schema',
    });
    expect(schema.required).toBeUndefined();
    expect(schema.properties.image_id.description).toContain('base image');
    expect(schema.properties.ssh_keys.items.description).toBeUndefined();
    expect(schema.properties.docker_config.properties.image.description).toBeUndefined();
    const pattern = new RegExp(schema.properties.instance_name.pattern);
    expect(['abc', 'a-1'].every((name) => pattern.test(name))).toBe(true);
    expect(['ab', '1ab', 'ab-', 'a_b', 'x'.repeat(51)].some((name) => pattern.test(name))).toBe(
      false,
    );
    const published = await readFile(
      new URL('../../../schemas/box.schema.json', import.meta.url),
      'utf8',
    );
    expect(published, 'schemas/box.schema.json is stale: npm run generate').toBe(stdout);
  });

  test('not enough funds is exit 5, and the journal says that it was refused', async () => {
    await world.sandbox.reset({ balance: '50.00' });
    const { code, stdout, stderr } = await world.cli([
      'instances',
      'create',
      'trainer',
      ...HARDWARE,
    ]);

    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(stderr).toMatch(/^error: /m);
    expect(await journal(world.home)).toEqual([]);
    expect((await world.cli(['instances', 'list', '--json'])).stdout).toBe('[]\n');
  });

  test('a machine that costs more than --max-price is ended at once', async () => {
    const { code, stdout, stderr, requests } = await world.cli([
      'instances',
      'create',
      'trainer',
      ...HARDWARE,
      '--max-price',
      '89.89',
    ]);

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(
      'came out at 89.90 RUB an hour, over --max-price 89.89, and was terminated at once',
    );
    expect(requests.map(({ path }) => path.split('/').at(-1))).toEqual(['instances', 'terminate']);
    const cheap = await world.cli([
      'instances',
      'create',
      'second',
      ...HARDWARE,
      '--max-price',
      '89.90',
    ]);
    expect(cheap.code).toBe(0);
  });

  test('a machine over --max-price that can not be ended is told as billing', async () => {
    await world.sandbox.inject('fail-terminate');
    await world.sandbox.inject('fail-terminate');
    const { code, stderr } = await world.cli([
      'instances',
      'create',
      'trainer',
      ...HARDWARE,
      '--max-price',
      '1',
      '--json',
    ]);
    expect(code).toBe(1);
    expect(errorOf(stderr)).toMatchObject({
      may_be_billing: true,
      hint: expect.stringContaining('gpucloud instances terminate '),
    });
  });

  test('a wait that the provider ends in ERROR is exit 12 and still prints the machine', async () => {
    await world.sandbox.inject('fail-provisioning');
    const { code, stdout, stderr } = await world.cli([
      'instances',
      'create',
      'trainer',
      ...HARDWARE,
      '--wait',
      '--json',
    ]);
    expect(code).toBe(12);
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'trainer',
      status: 'ERROR',
      failure_reason: expect.any(String),
    });
    expect(errorOf(stderr)).toMatchObject({ code: 'other_end', may_be_billing: true });
  });

  test('a wait past its deadline is exit 8 and says that it may be billing', async () => {
    await world.sandbox.inject('slow-provisioning');
    const { code, stderr } = await world.cli([
      'instances',
      'create',
      'trainer',
      ...HARDWARE,
      '--wait',
      '--wait-timeout',
      '30s',
    ]);
    expect(code).toBe(8);
    expect(stderr).toContain('Count it as still billing.');
    expect(stderr).toContain('gpucloud instances terminate ');
  });

  test('the outcome is on disk before the machine is printed', async () => {
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    expect(await journal(world.home)).toMatchObject([
      { place: 'instances', origin: 'create', name: 'trainer', id: expect.any(String) },
    ]);
  });
});

describe('instances create when the answer is lost', () => {
  test('is exit 7, may be billing, and stays in the list as UNKNOWN', async () => {
    const lossy = await createWorld({
      handler: ({ method, path }) =>
        method === 'POST' ? 'hangUp' : ok(path.startsWith('/storage') ? [] : {}),
    });
    const { code, stdout, stderr, requests } = await lossy.cli([
      'instances',
      'create',
      'trainer',
      ...HARDWARE,
      '--json',
    ]);

    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(errorOf(stderr)).toMatchObject({
      code: 'outcome_unknown',
      may_be_billing: true,
    });
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    const list = await lossy.cli(['instances', 'list', '--json']);
    expect(JSON.parse(list.stdout)).toMatchObject([
      { id: null, status: 'UNKNOWN', name: 'trainer' },
    ]);
    await lossy.close();
  });

  test('an id in a broken answer is kept and told', async () => {
    const id = '3f0c5d9e-1111-4222-8333-444455556666';
    const broken = await createWorld({
      handler: () => ok({ id, status: 5 }, 201),
    });
    const { code, stderr } = await broken.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    expect(code).toBe(10);
    expect(stderr).toContain(id);
    expect(await journal(broken.home)).toMatchObject([{ place: 'instances', id }]);
    await broken.close();
  });

  test('a refused connection is exit 6 and leaves no UNKNOWN', async () => {
    const away = await createWorld({ handler: () => 'hangUp' });
    await away.service.close();
    const { code, stderr } = await away.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    expect(code).toBe(6);
    expect(stderr).toMatch(/^error: /m);
    expect(await journal(away.home)).toEqual([]);
    await away.close();
  });

  test('a journal that can not be written is exit 9, and nothing is sent', async () => {
    await writeFile(join(world.home, 'not-a-folder'), '');
    const { code, stderr, requests } = await world.cli(
      ['instances', 'create', 'trainer', ...HARDWARE],
      {
        env: { GPUCLOUD_STATE_DIR: join(world.home, 'not-a-folder') },
      },
    );
    expect({ code, requests }).toEqual({ code: 9, requests: [] });
    expect(stderr).toContain('The list of rented machines could not be read');
  });
});
