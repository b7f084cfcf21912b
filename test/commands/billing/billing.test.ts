import { afterEach, describe, expect, it } from 'vitest';
import {
  createSandboxWorld,
  createWorld,
  type SandboxWorld,
  type World,
} from '../../support/run-cli.ts';
import type { Answer } from '../../support/service.ts';

const worlds: World[] = [];

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

async function sandboxWorld(): Promise<SandboxWorld> {
  const world = await createSandboxWorld();
  worlds.push(world);
  return world;
}

async function worldOf(answer: Answer | 'hangUp'): Promise<World> {
  const world = await createWorld({ handler: () => answer });
  worlds.push(world);
  return world;
}

const profile = (user: unknown): Answer => ({
  status: 200,
  body: { status: 'success', data: user },
});

describe('billing balance', () => {
  it('shows the wallet balance, and what it does not say', async () => {
    const world = await sandboxWorld();
    const { code, stdout, stderr, requests } = await world.cli(['billing', 'balance']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Wallet balance:  10500.00\n' });
    expect(stderr).toBe(
      'This is the wallet balance. How much of it running machines hold is told only in the answer to a change of the profile ("gpucloud me update --name NAME"), or perhaps by --raw.\n',
    );
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /users/me']);
  });

  it('passes the profile on as JSON', async () => {
    const user = { id: 'u-1', balance: '0.1', debt: '3', name: null };
    const world = await worldOf(profile(user));
    const { stdout, stderr } = await world.cli(['billing', 'balance', '--json']);
    expect(JSON.parse(stdout)).toEqual(user);
    expect(stderr).toBe('');
    const csv = await world.cli(['billing', 'balance', '-o', 'csv']);
    expect(csv.stdout).toBe('balance,reserved_balance,total_balance\r\n0.1,,\r\n');
  });

  it('shows the reserved funds where the service tells them', async () => {
    const amount = '123456789012345678901234567890.123456789';
    const world = await worldOf(
      profile({ id: 'u-1', balance: '-1.5', reserved_balance: '0', total_balance: amount }),
    );
    const { stdout, stderr } = await world.cli(['billing', 'balance']);
    expect(stdout).toBe(`Wallet balance:  -1.5\nReserved:        0\nTotal:           ${amount}\n`);
    expect(stderr).toBe('');
  });
});

describe('billing balance --raw', () => {
  const json =
    '{\r\n\t"debt": 0.1,\n  "huge": 123456789012345678901234567890.10, "a":"\u009b31m\u202e"}';

  it('prints the JSON as it came, to the last digit, but for controls', async () => {
    const world = await worldOf({ status: 200, body: json });
    const { code, stdout, stderr, requests } = await world.cli(['billing', 'balance', '--raw']);
    expect(code).toBe(0);
    expect(stdout).toBe(
      '{\n  "debt": 0.1,\n  "huge": 123456789012345678901234567890.10, "a":"\\u009b31m\\u202e"}\n',
    );
    expect(JSON.parse(stdout)).toEqual(JSON.parse(json));
    expect(stderr).toBe(
      'The API document names /billing/balance and does not give its shape: this is what the service answered.\n',
    );
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /billing/balance',
    ]);
    expect((await world.cli(['billing', 'balance', '--raw', '--json'])).stdout).toBe(stdout);
  });

  it.each([
    [401, 4],
    [403, 4],
    [404, 3],
    [400, 1],
    [409, 5],
    [302, 10],
  ])('answers %d with exit code %d', async (status, exit) => {
    const world = await worldOf({
      status,
      body: { statusCode: status, message: `no\u001b[2J ${'x'.repeat(300)}`, error: 'No' },
    });
    const { code, stdout, stderr } = await world.cli(['billing', 'balance', '--raw']);
    expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
    expect(stderr).toContain(`The service did not give /billing/balance (${status}): no xxx`);
    expect(stderr.split('\n')[0]?.length).toBeLessThan(300);
    expect(stderr).not.toContain('\u001b');
  });

  it('tells an empty refusal in few words', async () => {
    const world = await worldOf({ status: 404, body: '' });
    const { stderr } = await world.cli(['billing', 'balance', '--raw']);
    expect(stderr).toContain('error: The service did not give /billing/balance (404).\n');
  });

  it('does not take HTML for an answer', async () => {
    const world = await worldOf({ status: 200, body: '<html>hello</html>' });
    const { code, stdout, stderr } = await world.cli(['billing', 'balance', '--raw']);
    expect({ code, stdout }).toEqual({ code: 10, stdout: '' });
    expect(stderr).toContain('is no JSON');
  });

  it('has a query look into the answer', async () => {
    const world = await worldOf({ status: 200, body: json });
    const raw = ['billing', 'balance', '--raw', '--query'];
    expect((await world.cli([...raw, 'debt'])).stdout).toBe('0.1\n');
    expect((await world.cli([...raw, 'huge', '-o', 'tsv'])).stdout).toBe(
      '123456789012345678901234567890.10\n',
    );
  });

  it.each([['-o', 'yaml'], ['-q'], ['--columns', 'balance']])(
    'refuses %s, which it could not honour',
    async (...flags) => {
      const world = await worldOf({ status: 200, body: json });
      const { code, stderr, requests } = await world.cli(['billing', 'balance', '--raw', ...flags]);
      expect(code).toBe(2);
      expect(stderr).toContain('--raw prints JSON as the service sent it');
      expect(requests).toEqual([]);
    },
  );
});

describe('billing promo', () => {
  it('tells what was added and what there is now', async () => {
    const world = await sandboxWorld();
    const { code, stdout, stderr, requests } = await world.cli(['billing', 'promo', 'WELCOME500']);
    expect(code).toBe(0);
    expect(stdout).toBe('Added:        500.00\nNew balance:  11000.00\n');
    expect(stderr).toBe('The promo code is activated.\n');
    expect(requests.map(({ path, body }) => [path, body])).toEqual([
      ['/billing/promo/activate', { code: 'WELCOME500' }],
    ]);
  });

  it('passes the data on as JSON', async () => {
    const bonus = { added_amount: '0.30', new_balance: null, until: '2027' };
    const world = await worldOf({ status: 200, body: { data: bonus } });
    const { code, stdout } = await world.cli(['billing', 'promo', 'abc', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(bonus);
    expect((await world.cli(['billing', 'promo', 'abc'])).stdout).toBe('Added:  0.30\n');
  });

  it.each([
    ['EXPIRED2020', 1, 'has expired'],
    ['LIMITED', 1, 'exhausted'],
    ['NIX', 3, 'There is no such promo code'],
  ])('refuses %s with exit code %d', async (given, exit, words) => {
    const world = await sandboxWorld();
    const { code, stdout, stderr } = await world.cli(['billing', 'promo', given]);
    expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
    expect(stderr).toContain(words);
  });

  it('is never sent twice, and a lost answer is told as one', async () => {
    const world = await worldOf('hangUp');
    const { code, stderr, requests } = await world.cli(['billing', 'promo', 'WELCOME500']);
    expect(code).toBe(7);
    expect(stderr).toContain('The bonus may have been credited.');
    expect(requests).toHaveLength(1);
  });

  it.each([
    [['promo']],
    [['promo', ' ']],
    [['promo', 'a', 'b']],
    [['promo', 'a', '--columns', 'x']],
  ])('refuses %j before any request', async (given) => {
    const world = await worldOf('hangUp');
    const { code, requests } = await world.cli(['billing', ...given]);
    expect(code).toBe(2);
    expect(requests).toEqual([]);
  });
});

it('billing deposit is not in the published API', async () => {
  const world = await worldOf('hangUp');
  const { code, stderr, requests } = await world.cli(['billing', 'deposit', '500']);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^error: billing deposit: not in the published API \(.*gpucloud billing promo/,
  );
  expect(requests).toEqual([]);
});
