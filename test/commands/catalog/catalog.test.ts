import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { changeFile, readFile as readNames } from '../../../src/catalog/file.ts';
import { slug } from '../../../src/catalog/index.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import { IMAGE, OFFER } from '../../support/sandbox-ids.ts';
import type { Answer, RecordedRequest } from '../../support/service.ts';
import { ok } from '../../support/service.ts';

const INSTANCE = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';
const A = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const B = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb';
const UBUNTU = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc';

type Instance = Record<string, unknown>;

function instance(id: string, changes: Instance = {}): Instance {
  return {
    id,
    name: 'trainer',
    status: 'ACTIVE',
    price_per_hour_snapshot: '89.90',
    created_at: '2026-01-12T09:00:00.000Z',
    offer: {
      ...{ id: A, name: 'RTX 4090', region: 'ru-1', gpu_count: 2 },
      gpu_model: { name: 'NVIDIA RTX 4090', vram_gb: 24 },
    },
    base_image: { id: UBUNTU, name: 'Ubuntu 22.04', cuda_version: '12.4' },
    ...changes,
  };
}

/** The offer of this instance, as seen now. */
const SEEN = {
  kind: 'offer',
  id: A,
  name: 'RTX 4090',
  given_name: null,
  service_name: 'RTX 4090',
  region: 'ru-1',
  in_stock: null,
  in_stock_at: null,
  gpu: 'NVIDIA RTX 4090',
  gpu_count: 2,
  vram_gb: 24,
  cuda_version: null,
  price_per_hour: '89.90',
  price_at: '2026-01-12T09:00:00.000Z',
  seen_at: '2026-01-15T12:00:00.000Z',
  sources: ['seen'],
};

/** Creates a service with these instances, which rents copies of the first one. */
function serviceOf(instances: ReadonlyMap<string, Instance>) {
  return ({ method, path, body }: RecordedRequest): Answer => {
    const found = instances.get(path.split('/')[2] ?? '');
    if (method === 'POST') {
      const { instance_name: name } = body as { instance_name: string };
      const data = { ...instance(OTHER), name };
      return ok(data, 201);
    }
    return found === undefined
      ? { status: 404, body: { statusCode: 404, message: 'Not found', error: 'Not Found' } }
      : ok(found);
  };
}

let world: World;
let instances: Map<string, Instance>;
beforeEach(async () => {
  instances = new Map([[INSTANCE, instance(INSTANCE)]]);
  world = await createWorld({ handler: serviceOf(instances) });
});
const file = () => join(world.home, 'state', 'catalog.json');
const see = (id: string = INSTANCE) => world.cli(['instances', 'get', id, '-q']);

async function entries(of: World = world, ...argv: string[]) {
  const { code, stdout, stderr } = await of.cli(['catalog', 'list', '--json', ...argv]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function putFile(text: string): Promise<void> {
  await mkdir(join(world.home, 'state'), { recursive: true });
  await writeFile(file(), text);
}

describe('catalog list', () => {
  test('shows the offer and image of an instance, with price and date', async () => {
    await see();
    world.clock.advance(3 * 86_400_000);
    await world.cli(['catalog', 'list']);
    await world.cli(['catalog', 'list'], { terminal: true });
    await world.cli(['catalog', 'list'], { terminal: true, columns: 80 });
    expect((await stat(file())).mode & 0o777).toBe(0o600);
  });

  test('includes every field in --json, and filters by --kind', async () => {
    await see();
    expect(await entries(world, '--kind', 'offer')).toEqual([SEEN]);
    const { stdout } = await world.cli(['catalog', 'ls', '--kind', 'image', '-q']);
    expect(stdout).toBe(`${UBUNTU}\n`);
  });

  test('lists only offers and images of the current service', async () => {
    const env = { GPUCLOUD_BASE_URL: 'https://api.example.com' };
    const theirs = { service: env.GPUCLOUD_BASE_URL, kind: 'offer', id: A, given_name: 'theirs' };
    await putFile(JSON.stringify({ version: 1, names: [theirs] }));
    await see();
    expect((await entries())[0]).toEqual(SEEN);
    const { stdout } = await world.cli(['catalog', 'list', '--json'], { env });
    expect(JSON.parse(stdout)).toEqual([expect.objectContaining({ id: A, name: 'theirs' })]);
  });

  test('exits with 2 in catalog list without a base URL', async () => {
    const env = { GPUCLOUD_BASE_URL: undefined };
    const { stderr } = await world.cli(['catalog', 'list'], { env });
    expect(stderr).toMatch(/^error: --base-url \(or GPUCLOUD_BASE_URL\) is missing: .*\n$/);
  });
});

describe('learning from instances', () => {
  test('keeps the price of the newest instance, even if an older instance is read later', async () => {
    await see();
    instances.set(
      OTHER,
      instance(OTHER, {
        price_per_hour_snapshot: '70.00',
        created_at: '2025-06-01T00:00:00.000Z',
      }),
    );
    await see(OTHER);
    expect((await entries())[0]).toMatchObject({ price_per_hour: '89.90' });
    instances.set(
      OTHER,
      instance(OTHER, {
        price_per_hour_snapshot: '99.123456789012345678901',
        created_at: '2026-01-14T00:00:00.000Z',
      }),
    );
    await see(OTHER);
    expect((await entries())[0]).toMatchObject({
      price_per_hour: '99.123456789012345678901',
      price_at: '2026-01-14T00:00:00.000Z',
    });
  });

  test('rewrites the catalog only after a change, and the read time at most hourly', async () => {
    await see();
    const first = await stat(file());
    await see();
    expect((await stat(file())).mtimeMs).toBe(first.mtimeMs);
    world.clock.advance(3_599_999);
    await see();
    expect((await stat(file())).mtimeMs).toBe(first.mtimeMs);
    world.clock.advance(1);
    await see();
    expect((await entries())[0].seen_at).toBe('2026-01-15T13:00:00.000Z');
  });

  test.each([
    ['no offer and no image', {}],
    ['nulls', { offer: null, base_image: null, price_per_hour_snapshot: null }],
    ['no IDs', { offer: { name: 'x' }, base_image: {} }],
    ['invalid IDs', { offer: { id: '../x', name: 'x' }, base_image: { id: '' } }],
  ])('stores nothing from an instance with %s', async (_what, changes) => {
    const { offer: _offer, base_image: _image, ...bare } = instance(INSTANCE);
    instances.set(INSTANCE, { ...bare, ...changes });
    expect(await see()).toMatchObject({ code: 0, stderr: '' });
    expect(await entries()).toEqual([]);
  });

  const NOW = '2026-01-15T12:00:00.000Z';
  const card = (name: string | null, vram_gb: number | null) => ({ gpu_model: { name, vram_gb } });
  test.each<[string, Instance, offer: Instance, Partial<typeof SEEN> | object]>([
    [
      'an invalid price',
      { price_per_hour_snapshot: 'free' },
      {},
      { price_per_hour: null, price_at: null },
    ],
    ['no creation time', { created_at: null }, {}, { price_at: NOW }],
    ['an offer alone', { base_image: null }, {}, {}],
    [
      'the longest name',
      {},
      { name: 'x'.repeat(200) },
      { name: 'x'.repeat(200), service_name: 'x'.repeat(200) },
    ],
    ['too long a name', {}, { name: 'x'.repeat(201) }, { name: null, service_name: null }],
    ['a blank region', {}, { region: ' ' }, { region: null }],
    [
      'no cards',
      {},
      { gpu_count: 0, ...card(null, 0) },
      { gpu_count: null, gpu: null, vram_gb: null },
    ],
    [
      'one card',
      {},
      { gpu_count: 1, ...card('T4', 0.5) },
      { gpu_count: 1, gpu: 'T4', vram_gb: 0.5 },
    ],
    ['no stock', {}, { in_stock: false }, { in_stock: false, in_stock_at: NOW }],
    ['stock', {}, { in_stock: true }, { in_stock: true, in_stock_at: NOW }],
    ['an unknown stock', {}, { in_stock: null }, {}],
  ])('learns from an instance with %s', async (_what, changes, offer, learned) => {
    const { offer: own, ...rest } = instance(INSTANCE);
    instances.set(INSTANCE, { ...rest, ...changes, offer: { ...(own as Instance), ...offer } });
    await see();
    expect((await entries())[0]).toEqual({ ...SEEN, ...learned });
  });

  test("prefers a name set with catalog add over the service's name", async () => {
    await world.cli(['catalog', 'add', 'offer', A, '--name', 'mine']);
    await see();
    expect((await entries())[0]).toMatchObject({
      name: 'mine',
      given_name: 'mine',
      service_name: 'RTX 4090',
      price_per_hour: '89.90',
      sources: ['added', 'seen'],
    });
  });

  test('writes one complete catalog file for many concurrent reads', async () => {
    const offers = Array.from({ length: 12 }, (_, at) => `offer-${at}`);
    for (const [at, id] of offers.entries()) {
      const uuid = `33333333-3333-4333-8333-3333333333${String(at).padStart(2, '0')}`;
      instances.set(uuid, instance(uuid, { offer: { id, name: id } }));
    }
    await Promise.all([...instances.keys()].map((id) => see(id)));
    const kept = (await entries(world, '--kind', 'offer')).map((one: { id: string }) => one.id);
    expect(kept.sort()).toEqual([...offers, A].sort());
  });
});

describe('catalog add and remove', () => {
  test('adds a name, and prints the previous name after a change', async () => {
    const argv = ['catalog', 'add', 'offer', 'offer-7', '--name'];
    expect(await world.cli([...argv, 'RTX 5090'])).toEqual({
      code: 0,
      stdout: 'Kind:  offer\nName:  RTX 5090\nID:    offer-7\nFrom:  by hand\n',
      stderr: 'Use it: gpucloud instances create NAME --offer rtx-5090\n',
      requests: [],
    });
    const last = ` ${'n'.repeat(100)}\n`;
    for (const name of [last, last]) await world.cli([...argv, name]);
    expect(slug(' Ёлка – 5x')).toBe('ёлка-5x');
    await world.cli([...argv, 'big']);
    expect(await entries()).toMatchObject([{ id: 'offer-7', name: 'big' }]);
  });

  test("prompts for an offer's or image's name in a terminal", async () => {
    const { code } = await world.cli(['catalog', 'add', 'image', 'img-1'], {
      terminal: true,
      stdin: 'My image\r',
    });
    expect(code).toBe(0);
    expect(await entries()).toMatchObject([{ kind: 'image', id: 'img-1', name: 'My image' }]);
  });

  test.each([
    [['offer', 'x'], '--name is missing'],
    [['drive', 'x', '--name', 'n'], 'KIND "drive": must be one of offer, image'],
    [['offer', 'a/b', '--name', 'n'], 'ID "a/b": must have at most'],
    [['offer', 'x', '--name', ' '], '--name " ": must not be empty'],
    [['offer', 'x', '--name', '…'], 'must contain a letter or a digit'],
    [['offer', 'x', '--name', ' -n'], 'must not start with "-"'],
    [['offer', 'x', '--name', ` ${A}`], 'must not look like an ID'],
    [['offer', 'x', '--name', 'a\nb'], 'must be one line'],
    [['offer', 'x', '--name', 'n'.repeat(101)], 'at most 100 characters'],
    [['offer', 'x', '--name', 'svc_sk_live_abc'], '--name: this is an API key'],
  ])('rejects catalog add %j', async (argv, words) => {
    const { stderr } = await world.cli(['catalog', 'add', ...argv]);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('live_abc');
    expect(await entries()).toEqual([]);
  });

  test('rejects a name that is already in use', async () => {
    await world.cli(['catalog', 'add', 'offer', 'x', '--name', 'My Box']);
    await world.cli(['catalog', 'add', 'offer', 'y', '--name', 'my-box']);
    await world.cli(['catalog', 'add', 'offer', 'z', '--name', 'x']);
    // An offer and an image may share a name.
    expect((await world.cli(['catalog', 'add', 'image', 'y', '--name', 'my-box'])).code).toBe(0);
  });

  test('removes a name by name or ID, and exits with 3 for an unknown name', async () => {
    await see();
    expect(await world.cli(['catalog', 'remove', 'rtx-4090', '-o', 'id'])).toEqual({
      code: 0,
      stdout: `${A}\n`,
      stderr: `Removed the offer RTX 4090 (ru-1) ${A}.\n`,
      requests: [],
    });
    expect((await world.cli(['catalog', 'rm', UBUNTU])).code).toBe(0);
    expect(await entries()).toEqual([]);
    await world.cli(['catalog', 'remove', 'rtx-4090']);
  });

  test('rejects a name that an offer and an image share', async () => {
    await world.cli(['catalog', 'add', 'offer', 'x', '--name', 'mine']);
    await world.cli(['catalog', 'add', 'image', 'y', '--name', 'mine']);
    await world.cli(['catalog', 'remove', 'MINE']);
  });
});

describe('instances create by name', () => {
  const create = (...argv: string[]) =>
    world.cli(['instances', 'create', 'box', '--no-ssh-key', '-o', 'id', ...argv]);

  test.each([
    ['RTX 4090', 'Ubuntu 22.04'],
    ['rtx-4090', 'ubuntu-22.04'],
    ['Rtx 4090', 'UBUNTU-22-04'],
    [A, UBUNTU],
  ])('accepts --offer %j --image %j in instances create', async (offer, image) => {
    await see();
    const { requests } = await create('--offer', offer, '--image', image);
    expect(requests[0]?.body).toMatchObject({ offer_id: A, image_id: UBUNTU });
  });

  test('resolves offer and image names in an instance file', async () => {
    await see();
    const box = join(world.home, 'box.yaml');
    await writeFile(box, 'offer_id: rtx-4090\nimage_id: Ubuntu 22.04\n');
    expect((await create('-f', box)).requests[0]?.body).toMatchObject({
      offer_id: A,
      image_id: UBUNTU,
    });
  });

  test('rejects an ambiguous name and lists both IDs, unless catalog add assigned it', async () => {
    await see();
    instances.set(OTHER, instance(OTHER, { offer: { id: B, name: 'RTX 4090', region: 'ru-2' } }));
    await see(OTHER);
    const { code, stderr, requests } = await create('--offer', 'rtx-4090', '--image', UBUNTU);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toMatch(/^error: .+\n(hint: .+\n)?$/);
    await world.cli(['catalog', 'list']);

    await world.cli(['catalog', 'add', 'offer', B, '--name', 'RTX 4090']);
    const chosen = await create('--offer', 'rtx-4090', '--image', UBUNTU);
    expect(chosen.requests[0]?.body).toMatchObject({ offer_id: B });
  });

  test('sends an unknown name as an ID, and prints a note', async () => {
    const { requests } = await create('--offer', 'rtx-4090', '--image', UBUNTU);
    expect(requests[0]?.body).toMatchObject({ offer_id: 'rtx-4090', image_id: UBUNTU });
  });

  test("rejects an unknown name that can't be an ID, before any request", async () => {
    const { code, requests } = await create('--offer', 'RTX 4090', '--image', UBUNTU);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
  });

  test('adds the offer and image of the new instance to the catalog', async () => {
    await create('--offer', A, '--image', UBUNTU);
    expect(await entries()).toMatchObject([{ name: 'RTX 4090' }, { name: 'Ubuntu 22.04' }]);
  });
});

describe('in the sandbox', () => {
  const SANDBOX = { env: { GPUCLOUD_PROFILE: 'sandbox', GPUCLOUD_BASE_URL: undefined } };

  test('shows and resolves built-in names, and refuses to remove them', async () => {
    const rented = await world.cli(
      ['instances', 'create', 'box', '--offer', 'rtx-4090', '--image', 'ubuntu-22.04', '--json'],
      SANDBOX,
    );
    expect(JSON.parse(rented.stdout)).toMatchObject({ offer: { id: OFFER } });
    const own = JSON.parse((await world.cli(['catalog', 'list', '--json'], SANDBOX)).stdout);
    expect(own).toHaveLength(8);
    expect(own).toContainEqual(
      expect.objectContaining({ id: OFFER, price_per_hour: '89.90', sources: ['sandbox'] }),
    );
    // The sandbox's names need no file.
    await expect(stat(file())).rejects.toThrow('ENOENT');
    await world.cli(['catalog', 'remove', 'rtx-4090'], SANDBOX);
  });

  test('marks a sandbox price as play money', async () => {
    const { stderr } = await world.cli(
      ['instances', 'create', 'box', '--offer', 'RTX 4090', '--image', IMAGE, '--no-ssh-key'],
      SANDBOX,
    );
    expect(stderr).toContain('RTX 4090: 89.90 ₽ per hour of sandbox play money.\n');
  });

  test('adds and removes a name next to the built-in names', async () => {
    await world.cli(['catalog', 'add', 'offer', OFFER, '--name', 'cheap'], SANDBOX);
    const list = () => world.cli(['catalog', 'list', '--json', '--kind', 'offer'], SANDBOX);
    expect(JSON.parse((await list()).stdout)).toContainEqual(
      expect.objectContaining({
        id: OFFER,
        name: 'cheap',
        service_name: 'RTX 4090',
        sources: ['added', 'sandbox'],
      }),
    );
    expect((await world.cli(['catalog', 'rm', 'cheap'], SANDBOX)).code).toBe(0);
    expect(JSON.parse((await list()).stdout)).toHaveLength(5);
  });

  test('keeps a built-in name that another version once learned', async () => {
    const names = [{ service: 'sandbox', kind: 'offer', id: OFFER, name: 'old' }];
    await putFile(JSON.stringify({ version: 1, names }));
    const { stdout } = await world.cli(['catalog', 'list', '--json'], SANDBOX);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ id: OFFER, name: 'RTX 4090', given_name: null }),
    );
  });
});

describe('an unusable catalog file', () => {
  test.each([
    ['', 'it is empty'],
    ['{"version":1,"names":[', 'it is not JSON'],
    ['null', 'check the whole file'],
    ['{"version":1,"names":[{"service":"x","kind":"drive","id":"y"}]}', 'check names.0.kind'],
    ['{"version":2,"names":[]}', 'check version'],
  ])(
    'exits with 9 in catalog commands for an invalid file, and leaves the file unchanged: %j',
    async (text, words) => {
      await putFile(text);
      for (const argv of [['list'], ['add', 'offer', 'x', '--name', 'n'], ['rm', 'n']]) {
        const { code, stdout, stderr } = await world.cli(['catalog', ...argv]);
        expect({ code, stdout }).toEqual({ code: 9, stdout: '' });
        expect(stderr).toContain(file());
        expect(stderr).toContain(words);
      }
      expect(await readFile(file(), 'utf8')).toBe(text);
    },
  );

  test('prints one warning about an invalid catalog file in other commands', async () => {
    await putFile('{');
    const { code, stdout } = await see();
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${INSTANCE}\n` });
    const rented = await world.cli([
      ...['instances', 'create', 'box', '--no-ssh-key'],
      ...['--offer', A, '--image', UBUNTU],
    ]);
    expect(rented.stderr.match(/warning: Could not read names of offers/g)).toHaveLength(1);
    expect(await readFile(file(), 'utf8')).toBe('{');
  });

  test('names what is wrong with the place of the file', async () => {
    await putFile('{"version":1,"names":[]}');
    const [below, folder] = [join(file(), 'catalog.json'), join(world.home, 'state')];
    const fault = (message: string, hint: string) =>
      expect.objectContaining({ failure: 'storage', message, hint });
    const unusable = (path: string, why: string) =>
      fault(
        `Could not read names of offers and images from ${path}: ${why}. The file is unchanged.`,
        'correct the file, or move it away: gpucloud learns the names again from instances',
      );
    expect(() => readNames(folder)).toThrow(unusable(folder, 'it is not a regular file of yours'));
    expect(() => readNames(below)).toThrow(unusable(below, 'ENOTDIR'));
    await putFile('{');
    const change = (path: string) => changeFile(path, (names) => names);
    await expect(change(file())).rejects.toEqual(unusable(file(), 'it is not JSON'));
    await putFile('{"version":1,"names":[]}');
    await expect(change(below)).rejects.toEqual(
      fault(
        `Could not save names of offers and images to ${below} (${file()} is not a folder). The file is unchanged.`,
        `check ${file()}, or choose another folder with GPUCLOUD_STATE_DIR`,
      ),
    );
    expect(await readFile(file(), 'utf8')).toBe('{"version":1,"names":[]}');
  });

  test('keeps unknown fields of the catalog file after a change', async () => {
    const record = { service: world.service.url, kind: 'offer', id: 'x', later: { a: 1 } };
    await putFile(JSON.stringify({ version: 1, names: [record], more: true }));
    await world.cli(['catalog', 'add', 'offer', 'x', '--name', 'n']);
    const changed = { version: 1, names: [{ ...record, given_name: 'n' }], more: true };
    expect(JSON.parse(await readFile(file(), 'utf8'))).toEqual(changed);
  });
});
