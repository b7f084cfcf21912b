import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSandboxWorld, type SandboxWorld } from '../../support/run-cli.ts';
import { HARDWARE, IMAGE, OFFER } from '../../support/sandbox-ids.ts';

let world: SandboxWorld;

beforeEach(async () => {
  world = await createSandboxWorld();
});
afterEach(() => world.close());

describe('instances create from a file', () => {
  test('reads an instance from a file, which flags override', async () => {
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

  test('reads an instance from stdin', async () => {
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
      'line 2: instance_name breaks the rule: must be 3 to 50 Latin letters',
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
    ['offer_id: a\noffer_id: b', 'line 2: duplicate field'],
    ['{"offer_id": "a", "offer_id": "b"}', 'line 1: duplicate field'],
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
      'line 2: a second document starts here; a file describes one instance\n',
    ],
    ['[1]', 'line 1: the file is not of the type object'],
    ['', 'line 1: the file is not of the type object'],
  ])('refuses a file with %j', async (content, words) => {
    const argv = ['instances', 'create', '-f', '-', ...HARDWARE, '--name', 'box'];
    const { code, stderr, requests } = await world.cli(argv, { stdin: content });
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toContain(
      words === '' ? '--file "-": can\'t resolve its aliases' : `--file "-", ${words}`,
    );
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  test('prints the JSON Schema of such a file with --schema', async () => {
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
});
