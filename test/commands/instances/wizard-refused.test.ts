import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nameIn, RentingService } from '../../support/renting-service.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import { no, ok } from '../../support/service.ts';
import { sshPublicKey } from '../../support/ssh-key.ts';

/** Answers the wizard line by line after the service refused. */
const TAKEN = '3f0c5d9e-1111-4222-8333-444455556666';
const KEY = sshPublicKey('ssh-ed25519');

let service: RentingService;
let keys: { id: string; name: string; public_key: string }[];
let world: World;
beforeEach(async () => {
  service = new RentingService();
  service.balance = '10.00';
  service.onRead = async (id) => {
    const { name } = service.instances.get(id) ?? { name: '' };
    service.rent(id, name, { status: 'ACTIVE' });
  };
  keys = [];
  world = await createWorld({
    handler: (request) => {
      const { method, path, body } = request;
      if (path === '/templates') return ok([]);
      if (path !== '/ssh-keys') return service.handler(request);
      if (method === 'GET') return ok(keys);
      const { name, public_key } = body as { name: string; public_key: string };
      keys.push({ id: `key-${keys.length}`, name, public_key });
      return ok(keys.at(-1), 201);
    },
  });
});
afterEach(() => world.close());

function create(argv: readonly string[], ...lines: readonly string[]) {
  return world.cli(['instances', 'create', '--poll-interval', '500ms', ...argv], {
    terminal: true,
    columns: 300,
    typedAhead: true,
    env: { TERM: 'dumb', HOME: world.home },
    stdin: lines.map((line) => `${line}\n`).join(''),
  });
}

/** The requested instance names. */
function asked(requests: readonly { method: string; path: string; body: unknown }[]): string[] {
  return requests
    .filter(({ method, path }) => method === 'POST' && path === '/instances')
    .map(({ body }) => nameIn(body));
}

const NO_KEY = ['no key', '1'];

describe('a refused request', () => {
  test('asks for the name again if an instance has it, and keeps the other answers', async () => {
    service.rent(TAKEN, 'box', { status: 'ACTIVE' });
    await world.cli(['instances', 'track', TAKEN]);
    service.posts.push(() => no(409, 'name taken'));
    const { code, stderr, requests } = await create(
      ['box', '--yes'],
      ...['offer-1', 'image-1', ...NO_KEY, 'box-two'],
    );
    expect(code, stderr).toBe(0);
    expect(asked(requests)).toEqual(['box', 'box-two']);
    expect(stderr).toContain(
      `box already exists (${TAKEN}, ACTIVE). Nothing was rented.\nInstance name [`,
    );
    expect(stderr).toContain('instances create box-two --offer offer-1 --image image-1 --wait');
  });

  test('asks for the name again if it is taken before anything is sent', async () => {
    service.rent(TAKEN, 'box', { status: 'ACTIVE' });
    await world.cli(['instances', 'track', TAKEN]);
    const { stderr, requests } = await create(
      ['box'],
      ...['offer-1', 'image-1', ...NO_KEY, 'yes', 'box-two', 'yes'],
    );
    expect(asked(requests), stderr).toEqual(['box-two']);
  });

  test('asks for another offer if the balance is too low', async () => {
    service.posts.push(() => no(402, 'too little'));
    const { stderr, requests } = await create(
      ['box', '--image', 'image-1'],
      ...['offer-1', ...NO_KEY, 'yes', 'offer-2', 'yes'],
    );
    const offers = requests
      .filter(({ method, path }) => method === 'POST' && path === '/instances')
      .map(({ body }) => (body as { offer_id: string }).offer_id);
    expect(offers, stderr).toEqual(['offer-1', 'offer-2']);
  });

  test.each([400, 404, 422])('asks what to change after HTTP %i', async (status) => {
    service.posts.push(() => no(status, 'no'));
    const { stderr, requests } = await create(
      ['--image', 'image-1'],
      ...['box', 'offer-1', ...NO_KEY, 'yes', 'name', 'box-two', 'yes'],
    );
    expect(asked(requests), stderr).toEqual(['box', 'box-two']);
    expect(stderr).toContain(
      'Nothing was rented.\nChange what?\n  1. Name, box\n  2. Offer, offer-1',
    );
  });

  test.each([
    [401, 4],
    [403, 4],
    [429, 11],
  ])('ends after HTTP %i, which no answer can change', async (status, exit) => {
    service.posts.push(() => no(status, 'no'));
    const { code, requests } = await create(
      ['box', '--image', 'image-1'],
      ...['offer-1', ...NO_KEY, 'yes'],
    );
    expect(code).toBe(exit);
    expect(asked(requests)).toEqual(['box']);
  });
});

describe('an account without an SSH key', () => {
  test('adds a key of this computer and rents with it', async () => {
    await mkdir(join(world.home, '.ssh'));
    await writeFile(join(world.home, '.ssh', 'id_ed25519.pub'), `${KEY} anna@laptop\n`);
    const { code, stderr, requests } = await create(
      ['box', '--image', 'image-1'],
      ...['offer-1', 'id_ed25519', '1', 'yes'],
    );
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('✓ Added anna@laptop (SHA256:');
    expect(stderr).not.toContain('Generate');
    expect(keys).toMatchObject([{ name: 'anna@laptop', public_key: `${KEY} anna@laptop` }]);
    expect(
      requests.find(({ path, method }) => path === '/instances' && method === 'POST')?.body,
    ).toMatchObject({ ssh_keys: ['key-0'] });
    expect(stderr).toContain('--ssh-key anna@laptop --wait');
  });

  test('adds none with --dry-run', async () => {
    const { code, stderr, requests } = await create(
      ['box', '--image', 'image-1', '--dry-run'],
      ...['offer-1', '1'],
    );
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('The account has no SSH key');
    expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});
