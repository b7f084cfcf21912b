import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { RentingService } from '../../support/renting-service.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import { no, ok, type RecordedRequest } from '../../support/service.ts';
import { sshPublicKey } from '../../support/ssh-key.ts';

const KEY = sshPublicKey('ssh-ed25519');
const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const OTHER = '4f0c5d9e-1111-4222-8333-444455556666';

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

function create(argv: readonly string[], ...lines: readonly string[]) {
  return world.cli(['instances', 'create', '--poll-interval', '500ms', ...argv], {
    terminal: true,
    columns: 300,
    typedAhead: true,
    env: { TERM: 'dumb', HOME: world.home },
    stdin: lines.map((line) => `${line}\n`).join(''),
  });
}

test.each([
  [402, 5],
  [404, 3],
  [401, 4],
])(
  "exits with the refusal's code, and prints the equivalent command first: HTTP %i",
  async (status, exit) => {
    service.posts.push(() => no(status, 'no'));
    const { code, requests } = await create(
      ['--image', 'image-1'],
      ...['box', 'offer-1', 'no key', '1', 'yes', 'no'],
    );
    expect(code).toBe(exit);
    expect(
      requests.filter(({ method, path }) => method === 'POST' && path === '/instances'),
    ).toHaveLength(1);
  },
);

describe('instances create after a refusal', () => {
  const ANSWERS = ['box', 'offer-1', 'no key', '1', 'yes'];
  const offersIn = (requests: readonly RecordedRequest[]) =>
    requests.flatMap(({ method, path, body }) =>
      method === 'POST' && path === '/instances' ? (body as { offer_id: string }).offer_id : [],
    );
  const ask = (...lines: readonly string[]) => create(['--image', 'image-1'], ...ANSWERS, ...lines);

  test('asks for another offer, shows the request again, and rents the other offer', async () => {
    service.posts.push(() => no(409, 'Offer is out of stock'));
    const { code, stderr, requests } = await ask('yes', 'offer-2', 'yes');
    expect(code, stderr).toBe(0);
    expect(offersIn(requests)).toEqual(['offer-1', 'offer-2']);
  });

  test('exits with 5 if the user declines to choose another offer', async () => {
    service.posts.push(() => no(409, 'Offer is out of stock'));
    const { code, requests } = await ask('no');
    expect(code).toBe(5);
    expect(offersIn(requests)).toEqual(['offer-1']);
  });

  test('exits with 3 if the user cancels the second request', async () => {
    service.posts.push(() => no(404, 'Offer not found'));
    const { code, requests } = await ask('yes', 'offer-2', '3');
    expect(code).toBe(3);
    expect(offersIn(requests)).toEqual(['offer-1']);
  });

  test.each([
    ['TERMINATED', 0, ['offer-1', 'offer-2']],
    ['ERROR', 7, ['offer-1']],
  ])(
    'rents another offer only after the instance that is too expensive has ended: %s',
    async (end, exit, offers) => {
      const ids = [ID, OTHER];
      let before: string | undefined;
      service.newId = () => {
        before = service.instances.get(ID)?.status;
        return ids.shift() ?? 'none';
      };
      let reads = 0;
      service.shows = (body) => ({
        price_per_hour_snapshot:
          (body as { offer_id: string }).offer_id === 'offer-1' ? '99' : '59',
      });
      service.onRead = async (id) => {
        const { name = '', status } = service.instances.get(id) ?? {};
        reads += 1;
        if (status === 'PROVISIONING') service.rent(id, name, { status: 'ACTIVE' });
        if (status === 'TERMINATING' && reads > 9) service.rent(id, name, { status: end });
      };
      const { code, stderr, requests } = await create(
        ['--image', 'image-1', '--max-price', '60'],
        ...[...ANSWERS, 'yes', 'offer-2', 'yes'],
      );
      expect({ code, offers: offersIn(requests), before }, stderr).toEqual({
        ...{ code: exit, offers, before: exit === 0 ? 'TERMINATED' : undefined },
      });
    },
  );

  test('does not ask for another offer unless the termination is confirmed', async () => {
    service.shows = () => ({ price_per_hour_snapshot: '100.00' });
    service.terminations = Array.from({ length: 4 }, () => () => ok({ status: 'TERMINATING' }));
    const lines = [...ANSWERS, 'yes', 'offer-2', 'yes'];
    const { code, requests } = await create(['--image', 'image-1', '--max-price', '60'], ...lines);
    expect({ code, offers: offersIn(requests) }).toEqual({ code: 7, offers: ['offer-1'] });
  });

  test.each([
    ['an unknown outcome', 7, () => 'hangUp' as const],
    ['a server error', 7, () => no(500, 'no')],
    ['an insufficient balance', 5, () => no(402, 'no')],
    ['a refused key', 4, () => no(401, 'no')],
    ['a rate limit', 11, () => no(429, 'no')],
  ])('does not ask for another offer after %s', async (_what, exit, post) => {
    service.posts.push(post);
    const { code, requests } = await ask('yes', 'offer-2', 'yes');
    expect({ code, offers: offersIn(requests) }).toEqual({ code: exit, offers: ['offer-1'] });
  });

  test('does not ask for another offer if the flags include the offer', async () => {
    service.posts.push(() => no(409, 'no'));
    const argv = ['box', '--image', 'image-1', '--offer', 'offer-1', '--no-ssh-key', '--wait'];
    const { code } = await create(argv, 'yes', 'offer-2', 'yes');
    expect(code).toBe(5);
  });
});

describe('instances create without an SSH key in the account', () => {
  test('adds a key from this computer, rents with it and waits for SSH', async () => {
    const sshd = createServer((socket) => socket.end('SSH-2.0-Test\r\n'));
    await new Promise<void>((resolve) => sshd.listen(0, '127.0.0.1', resolve));
    const { port } = sshd.address() as { port: number };
    service.onRead = async (id) => {
      const at = { status: 'ACTIVE', ip_address: '127.0.0.1', ssh_port: port } as const;
      service.rent(id, 'box', at);
    };
    await mkdir(join(world.home, '.ssh'));
    await writeFile(join(world.home, '.ssh', 'id_ed25519.pub'), `${KEY} anna@laptop\n`);
    const { code, stderr, requests } = await create(
      ['box', '--image', 'image-1'],
      ...['offer-1', 'id_ed25519', '1', 'yes'],
    );
    await new Promise((resolve) => sshd.close(resolve));
    expect(code, stderr).toBe(0);
    expect(keys).toMatchObject([{ name: 'anna@laptop', public_key: `${KEY} anna@laptop` }]);
    expect(
      requests.find(({ path, method }) => path === '/instances' && method === 'POST')?.body,
    ).toMatchObject({ ssh_keys: ['key-0'] });
  });

  test('does not add a key with --dry-run', async () => {
    const { code, stderr, requests } = await create(
      ['box', '--image', 'image-1', '--dry-run'],
      ...['offer-1', '1'],
    );
    expect(code, stderr).toBe(0);
    expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});
