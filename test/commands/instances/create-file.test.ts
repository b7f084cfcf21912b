import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, test } from 'vitest';
import { createSandboxWorld, type SandboxWorld } from '../../support/run-cli.ts';
import { HARDWARE, IMAGE, OFFER, OFFERED } from '../../support/sandbox-ids.ts';

let world: SandboxWorld;

beforeEach(async () => {
  world = await createSandboxWorld();
});

describe('instances create --file', () => {
  test('prefers flags to the instance file', async () => {
    const file = join(world.home, 'box.yaml');
    await writeFile(
      file,
      `instance_name: from-file\noffer_id: ${OFFER}\nimage_id: ${IMAGE}\ndocker_config:\n  image: nginx\n  shm_size_gb: 1\n  env:\n    - {key: A, value: x=1}\n    - {key: B, value: ''}\n`,
    );
    const { requests } = await world.cli([
      ...['instances', 'create', 'from-flag', '-f', file, '--shm-size', '2', '--no-ssh-key'],
    ]);
    expect(requests[0]?.body).toEqual({
      instance_name: 'from-flag',
      offer_id: OFFER,
      image_id: IMAGE,
      docker_config: {
        image: 'nginx',
        shm_size_gb: 2,
        env: [
          { key: 'A', value: 'x=1' },
          { key: 'B', value: '' },
        ],
      },
    });
  });

  test('accepts a byte order mark and CRLF', async () => {
    const windows = (lines: readonly string[]) => `\ufeff${lines.join('\r\n')}\r\n`;
    const [file, vars] = [join(world.home, 'box.yaml'), join(world.home, 'vars')];
    const box = ['instance_name: box', `offer_id: ${OFFER}`, `image_id: ${IMAGE}`];
    await writeFile(file, windows([...box, 'docker_config:', '  image: nginx']));
    await writeFile(vars, windows(['  # comment', 'A=1', '', 'B=two words']));
    const argv = ['instances', 'create', '-f', file, '--env-file', vars, '--no-ssh-key'];
    const { requests } = await world.cli(argv);
    expect(requests[0]?.body).toMatchObject({
      instance_name: 'box',
      image_id: IMAGE,
      docker_config: {
        image: 'nginx',
        env: [
          { key: 'A', value: '1' },
          { key: 'B', value: 'two words' },
        ],
      },
    });
  });

  test('reads an instance from stdin', async () => {
    const box = { instance_name: 'piped', offer_id: OFFER, image_id: IMAGE };
    const { requests } = await world.cli(['instances', 'create', '-f', '-', '--no-ssh-key'], {
      stdin: JSON.stringify(box),
    });
    expect(requests[0]?.body).toEqual(box);
  });

  test.each([
    ['offer_id: 5', 'line 1: offer_id is not of type string'],
    [
      'offer_id: a\ninstance_name: ab',
      'line 2: instance_name breaks the rule: must be 3 to 50 letters (a-z)',
    ],
    ['offer_id: a\n\ncolour: red', 'line 3: colour is unknown'],
    [
      '{"docker_config": {\n"ports": [\n{"external_port": 1, "internal_port": 1},\n{"external_port": 2, "internal_port": 0}]}}',
      'line 4: docker_config.ports.1.internal_port is less than 1',
    ],
    ['docker_config:\n  env:\n    - {value: x}', 'line 3: docker_config.env.0.key is missing'],
    [
      'docker_config:\n  env:\n    - {key: a b, value: x}',
      'line 3: docker_config.env.0 "a b": must contain only letters',
    ],
    [
      'docker_config:\n  ports:\n    - {external_port: 80, internal_port: 1}\n    - {external_port: 80, internal_port: 2}',
      'line 4: docker_config.ports.1: the external port 80/tcp is published twice',
    ],
    [
      'docker_config:\n  ports:\n    - {external_port: 80, internal_port: 1, is_main: true}\n    - {external_port: 81, internal_port: 2, is_main: true}',
      'line 4: docker_config.ports.1: only one port can be the main one',
    ],
    [
      'docker_config: {ports: [{}]}',
      'line 1: docker_config.ports.0.internal_port is missing; line 1: docker_config.ports.0.external_port is missing',
    ],
    [
      'docker_config:\n  env:\n    - {key: A, value: x}\n    - {key: A, value: y}',
      'line 4: docker_config.env.1: A is set twice',
    ],
    [
      'docker_config:\n  shm_size_gb: 1000000',
      'line 2: docker_config.shm_size_gb is more than 999999',
    ],
    [
      'docker_config:\n  image: " "',
      'line 2: docker_config.image breaks the rule: must not be empty',
    ],
    ['terminate_after: 4', 'line 1: terminate_after is not of type string'],
    ['terminate_after: soon', 'line 1: terminate_after breaks the rule: must be'],
    [
      'terminate_at: 2026-01-31',
      'line 1: terminate_at breaks the rule: must be a time of day, such as 18:00',
    ],
    [
      'terminate_after: 4h\nterminate_at: 2026-01-31T18:00',
      "line 2: terminate_at can't be combined with terminate_after",
    ],
    ['max_price: 0', 'line 1: max_price breaks the rule: must be more than zero'],
    ['max_price: []', 'line 1: max_price has an unexpected shape'],
    ['instance_name: !!str box', 'line 1: tags are not supported'],
    [
      'env:\n  PASSWORD: !secret',
      'line 2: tags are not supported: quote a text that begins with !\n',
    ],
    [
      'env:\n  PASSWORD: *secret',
      'line 2: the alias has no anchor: quote a text that begins with *\n',
    ],
    ['env: {PASSWORD=secret}', 'line 1: env.PASSWORD=… has an unexpected shape\n'],
    ['? [a]\n: b', 'line 1: [ a ] is unknown\n'],
    ['storage_drive_id: ""', 'line 1: storage_drive_id breaks the rule: must not be empty'],
    ['offer_id: a\na: [', 'line 2: not YAML or JSON'],
    ['offer_id: a\noffer_id: b', 'line 2: duplicate field'],
    ['{"offer_id": "a", "offer_id": "b"}', 'line 1: duplicate field'],
    [
      'a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c]',
      '',
    ],
    [
      'nam: box\ndrive: d\nssh_keys: [1]\ndocker_config:\n  env:\n    - {key: a b, value: x}',
      'line 1: nam is unknown (did you mean name?); line 2: drive is unknown (did you mean storage_drive_id?); line 3: ssh_keys.0 is not of type string',
    ],
    [
      'offer_id: a\n---\noffer_id: b',
      'line 2: a second document starts here; a file describes one job or instance\n',
    ],
    ['[1]', 'line 1: the file is not of type object'],
    ['', 'line 1: the file is not of type object'],
  ])('rejects an instance file with %j', async (content, words) => {
    const argv = ['instances', 'create', '-f', '-', ...HARDWARE, '--name', 'box'];
    const { code, stderr, requests } = await world.cli(argv, { stdin: content });
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toContain(
      words === '' ? "error: stdin: can't resolve its aliases" : `error: stdin, ${words}`,
    );
  });

  test('asks nothing in a terminal whose input is the file', async () => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    stdin.end('name: box\n');
    const pipes = { stdin, stdout: new PassThrough(), stderr: new PassThrough() };
    const argv = ['instances', 'create', '-f', '-', '--no-ssh-key'];
    expect((await world.cli(argv, { terminal: true, pipes })).code).toBe(2);
  });

  async function fileOf(content: string | Buffer): Promise<string> {
    const file = join(world.home, 'box.yaml');
    await writeFile(file, content);
    return file;
  }

  test('reports the file and field of an unknown SSH key', async () => {
    const file = await fileOf('ssh_keys:\n  - nobody\nstorage_drive_id: nothing\n');
    const create = ['instances', 'create', 'box', ...OFFERED, '-f', file];
    expect(await world.cli(create)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(
        `error: ${file}, line 2: ssh_keys.0 "nobody": no SSH key has that name or ID.`,
      ),
    });
    await world.cli([...create, '--ssh-key', 'somebody']);
  });

  test('rejects a file that is not UTF-8', async () => {
    const file = await fileOf(Buffer.from('# caf\xe9\ninstance_name: box\n', 'latin1'));
    const { code, stderr, requests } = await world.cli(['instances', 'create', '-f', file]);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toBe(`error: --file "${file}": must be UTF-8\n`);
  });

  test('applies max_price and terminate_after unless flags replace them', async () => {
    const file = await fileOf('$schema: box.schema.json\nterminate_after: 2h\nmax_price: 0.5\n');
    const create = ['instances', 'create', 'box', ...HARDWARE, '-f', file];
    const unarmed = await world.cli(create);
    expect(unarmed).toMatchObject({ code: 2, requests: [] });

    const dear = await world.cli([...create, '--unenforced']);
    expect(dear.stderr).toContain('over --max-price 0.50, and was terminated at once');
    expect(dear.requests.map(({ body }) => body)).toContainEqual({
      instance_name: 'box',
      offer_id: OFFER,
      image_id: IMAGE,
    });

    const flags = ['--unenforced', '--terminate-at', '2026-01-16T18:00Z', '--max-price', '900'];
    const other = ['instances', 'create', 'box-2', ...HARDWARE, '-f', file];
    const { stdout } = await world.cli([...other, ...flags, '-q']);
    const list = await world.cli(['instances', 'list', '--json', '--sort', 'name']);
    const ends = JSON.parse(list.stdout).find(({ id }: { id: string }) => id === stdout.trim());
    expect(ends.ends_at).toBe('2026-01-16T18:00:00.000Z');
    const at = await fileOf('terminate_at: 2026-01-16T18:00Z\n');
    const third = ['instances', 'create', 'box-3', ...HARDWARE, '-f', at, '--unenforced'];
    expect((await world.cli([...third, '--terminate-after', '3h', '-q'])).code).toBe(0);
  });

  test.each([
    ['-e A=1 -e A=2', '--env: A is set twice'],
    ['-p 1:1,main -p 2:2,main', '--port: only one port can be the main one'],
    ['-p 80:1 -p 80:2', '--port: the external port 80/tcp is published twice'],
    ['--shm-size 1000000', '--shm-size "1000000": must be 0.1 to 999999 GB'],
  ])('rejects container flags %s in create', async (flags, message) => {
    const container = ['--docker-image', 'nginx', ...flags.split(' ')];
    const create = ['instances', 'create', 'box', ...HARDWARE, ...container];
    const { code, stderr, requests } = await world.cli(create);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toContain(`error: ${message}`);
  });

  test('reports the missing docker_config.image and its line', async () => {
    const file = await fileOf('docker_config:\n  run_command: sleep 1\n');
    const create = ['instances', 'create', 'box', ...HARDWARE];
    const inFile = await world.cli([...create, '-f', file]);
    const place = `${file}, line 2: docker_config`;
    expect(inFile.stderr).toContain(`${place}.run_command needs it`);
    await world.cli([...create, '-p', '80:80']);
    await world.cli([...create, '--volume', '/a:/b', '--port', '80:80']);
  });

  test('prints the JSON Schema with --schema', async () => {
    const { code, stdout, requests } = await world.cli(['instances', 'create', '--schema']);
    expect({ code, requests }).toEqual({ code: 0, requests: [] });
    const schema = JSON.parse(stdout);
    expect(schema.properties.ssh_keys.items.description).toBeUndefined();
    const pattern = new RegExp(schema.properties.instance_name.pattern);
    expect(['abc', 'a-1'].every((name) => pattern.test(name))).toBe(true);
    expect(['ab', '1ab', 'ab-', 'a_b', 'x'.repeat(51)].some((name) => pattern.test(name))).toBe(
      false,
    );
    const published = await readFile(
      new URL('../../../schemas/job.schema.json', import.meta.url),
      'utf8',
    );
    expect(published, 'schemas/job.schema.json is stale: npm run generate').toBe(stdout);
  });
});
