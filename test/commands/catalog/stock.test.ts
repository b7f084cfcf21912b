import { beforeEach, expect, test } from 'vitest';
import { createWorld, type World } from '../../support/run-cli.ts';
import { no, ok, type RecordedRequest } from '../../support/service.ts';

const A = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const UBUNTU = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc';
const INSTANCE = '3f0c5d9e-1111-4222-8333-444455556666';

let inStock: boolean | null;
let offerName: string | null = 'RTX 4090';
let isRefusing: boolean;
let world: World;
beforeEach(async () => {
  isRefusing = false;
  offerName = 'RTX 4090';
  world = await createWorld({ handler: answer });
});

function answer({ method, path }: RecordedRequest) {
  if (method === 'POST') return isRefusing ? no(409, 'Offer is out of stock') : no(500, 'no');
  if (/^\/(ssh-keys|templates|storage)/.test(path)) return ok([]);
  return ok({
    id: INSTANCE,
    name: 'trainer',
    status: 'ACTIVE',
    price_per_hour_snapshot: '89.90',
    created_at: '2026-01-12T09:00:00.000Z',
    offer: { id: A, name: offerName, region: 'ru-1', in_stock: inStock },
    base_image: { id: UBUNTU, name: 'Ubuntu 22.04', cuda_version: '12.4' },
  });
}

const showing = (value: boolean | null) => {
  inStock = value;
};
const see = () => world.cli(['instances', 'get', INSTANCE, '-q']);
const offers = async () =>
  JSON.parse((await world.cli(['catalog', 'list', '--kind', 'offer', '--json'])).stdout);
const note = async () => (await world.cli(['catalog', 'list'])).stderr;

test("shows an offer's stock at the last read, with its date", async () => {
  showing(false);
  await see();
  expect(await offers()).toMatchObject([
    { in_stock: false, in_stock_at: '2026-01-15T12:00:00.000Z' },
  ]);
  expect(await note()).toBe('Out of stock when last seen: RTX 4090 (2026-01-15).\n');
  world.clock.advance(86_400_000);
  showing(null);
  await see();
  expect(await offers()).toMatchObject([
    { in_stock: false, in_stock_at: '2026-01-15T12:00:00.000Z' },
  ]);
  showing(true);
  await see();
  expect(await offers()).toMatchObject([
    { in_stock: true, in_stock_at: '2026-01-16T12:00:00.000Z' },
  ]);
  expect(await note()).toBe('');
});

test('names an offer without a name by its ID', async () => {
  offerName = null;
  showing(false);
  await see();
  expect(await note()).toBe(`Out of stock when last seen: ${A} (2026-01-15).\n`);
});

test('updates the time of the stock at most hourly', async () => {
  showing(false);
  await see();
  world.clock.advance(60_000);
  await see();
  expect(await offers()).toMatchObject([{ in_stock_at: '2026-01-15T12:00:00.000Z' }]);
  world.clock.advance(3_600_000);
  await see();
  expect(await offers()).toMatchObject([{ in_stock_at: '2026-01-15T13:01:00.000Z' }]);
});

test('keeps the stored stock after a refused create', async () => {
  showing(true);
  await see();
  isRefusing = true;
  const argv = ['instances', 'create', 'box', '--offer', 'rtx-4090', '--image', UBUNTU];
  expect((await world.cli(argv)).code).toBe(5);
  expect(await offers()).toMatchObject([{ in_stock: true }]);
});

test('prints in create --dry-run that the offer was last out of stock', async () => {
  showing(false);
  await see();
  const argv = ['instances', 'create', 'box', '--offer', 'rtx-4090', '--image', UBUNTU];
  const { stderr } = await world.cli([...argv, '--dry-run']);
  expect(stderr).toContain('RTX 4090 was out of stock when last seen, on 2026-01-15.\n');
});

test('shows the stock in the offer list of the wizard', async () => {
  showing(false);
  await see();
  const { code, stderr } = await world.cli(['instances', 'create', 'box'], {
    terminal: true,
    columns: 200,
    typedAhead: true,
    env: { TERM: 'dumb', HOME: world.home },
    stdin: '1\n1\nno key\n1\n3\n',
  });
  expect(code).toBe(130);
  expect(stderr).toMatch(/RTX 4090, .*out of stock on 2026-01-15/);
});
