import { describe, expect, it } from 'vitest';
import { createSandboxWorld, createWorld } from '../../support/run-cli.ts';
import { type Answer, ok, sent } from '../../support/service.ts';

const worldOf = (answer: Answer | 'hangUp') => createWorld({ handler: () => answer });

describe('billing balance', () => {
  it('prints only the wallet balance in billing balance', async () => {
    const world = await createSandboxWorld();
    const { code, stdout, requests } = await world.cli(['billing', 'balance']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Wallet balance:  10500.00\n' });
    expect(sent(requests)).toEqual(['GET /users/me']);
  });

  it('shows the reserved funds if the service returns them', async () => {
    const amount = '123456789012345678901234567890.123456789';
    const world = await worldOf(
      ok({ id: 'u-1', balance: '-1.5', reserved_balance: '0', total_balance: amount }),
    );
    const { stdout } = await world.cli(['billing', 'balance']);
    expect(stdout).toBe(`Wallet balance:  -1.5\nReserved:        0\nTotal:           ${amount}\n`);
  });
});

describe('billing promo', () => {
  it('prints the amount added by a promo code and the new balance', async () => {
    const world = await createSandboxWorld();
    const { stderr, requests } = await world.cli(['billing', 'promo', 'WELCOME500']);
    expect(stderr).toBe('Promo code applied.\n');
    expect(requests.map(({ path, body }) => [path, body])).toEqual([
      ['/billing/promo/activate', { code: 'WELCOME500' }],
    ]);
  });

  it("prints the service's data as JSON in billing promo", async () => {
    const bonus = { added_amount: '0.30', new_balance: null, until: '2027' };
    const world = await worldOf({ status: 200, body: { data: bonus } });
    const { stdout } = await world.cli(['billing', 'promo', 'abc', '--json']);
    expect(JSON.parse(stdout)).toEqual(bonus);
    expect((await world.cli(['billing', 'promo', 'abc'])).stdout).toBe('Added:  0.30\n');
  });

  it('exits with 7 after a lost response, and never resends', async () => {
    const world = await worldOf('hangUp');
    const { requests } = await world.cli(['billing', 'promo', 'WELCOME500']);
    expect(requests).toHaveLength(1);
  });

  it.each([
    [['promo']],
    [['promo', ' ']],
    [['promo', 'a', 'b']],
    [['promo', 'a', '--columns', 'x']],
  ])('rejects billing promo %j before any request', async (given) => {
    const world = await worldOf('hangUp');
    const { requests } = await world.cli(['billing', ...given]);
    expect(requests).toEqual([]);
  });
});
