import { readFile } from 'node:fs/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { OFFERS } from '../../../src/sandbox/catalog/offers.ts';
import { sumOf, UNIT, units } from '../../money/amounts.ts';
import { fewer, randomNumbers, runs } from '../../support/random.ts';
import { createSandboxWorld, type SandboxWorld } from '../../support/run-cli.ts';
import { HARDWARE, IMAGE } from '../../support/sandbox-ids.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Days to simulate. The first of a month is the 17th. */
const DAYS = runs(31, 20);

let world: SandboxWorld;
beforeEach(async () => {
  world = await createSandboxWorld();
});

interface Booked {
  readonly type: string;
  readonly amount: string;
  /** In milliseconds since 1970. */
  readonly at: number;
}

/** Reads the sandbox's transactions directly from its file. */
async function books(): Promise<readonly Booked[]> {
  return JSON.parse(await readFile(world.sandboxFile, 'utf8')).transactions;
}

function total(entries: readonly Booked[], type: string): bigint {
  return sumOf(entries.filter((entry) => entry.type === type).map(({ amount }) => amount));
}

function spentOf(entries: readonly Booked[]): bigint {
  return total(entries, 'USAGE_CHARGE') - total(entries, 'REFUND');
}

async function json(...argv: string[]) {
  const { code, stdout, stderr } = await world.cli([...argv, '--json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

interface Row {
  readonly from: string;
  readonly to: string;
  readonly spent: string;
  readonly charged: string;
  readonly refunded: string;
  readonly deposited: string;
  readonly bonus: string;
  readonly transactions: number;
}

/**
 * Checks each row against the transactions of its period, and all rows against all transactions.
 */
async function assertSpend(by: string): Promise<void> {
  const rows: readonly Row[] = await json('billing', 'spend', '--by', by, '--since', '2026-01-01');
  const entries = await books();
  for (const row of rows) {
    const inside = entries.filter(
      ({ at }) => at >= Date.parse(row.from) && at < Date.parse(row.to),
    );
    expect([row.from, units(row.spent)]).toEqual([row.from, spentOf(inside)]);
    expect(units(row.charged)).toBe(total(inside, 'USAGE_CHARGE'));
    expect(units(row.refunded)).toBe(total(inside, 'REFUND'));
    expect(units(row.deposited)).toBe(total(inside, 'DEPOSIT'));
    expect(units(row.bonus)).toBe(total(inside, 'BONUS'));
    expect(row.transactions).toBe(inside.length);
  }
  expect(sumOf(rows.map(({ spent }) => spent))).toBe(spentOf(entries));
}

/** Checks balance, burn rate and runway against the sandbox's state, in integers. */
async function assertStatus(): Promise<void> {
  const status = await json('status');
  const runway = await json('billing', 'runway');
  const own = await world.sandbox.status();
  const entries = await books();
  const left = total(entries, 'DEPOSIT') + total(entries, 'BONUS') - spentOf(entries);
  expect(units(status.balance)).toBe(left);
  expect(units(own.balance)).toBe(left);

  const running = own.instances.filter(
    ({ status: word }) => !['STOPPED', 'ERROR', 'TERMINATING'].includes(word),
  );
  const rate = sumOf([...running, ...own.drives].map(({ price_per_hour }) => price_per_hour));
  expect(units(status.burn.per_hour)).toBe(rate);
  expect(units(status.burn.per_day)).toBe(rate * 24n);
  expect(units(status.burn.per_month)).toBe(rate * 720n);
  expect(runway.burn).toEqual(status.burn);
  expect(status.instances).toHaveLength(own.instances.length);

  expect(status.charges?.unexplained).toBe('0.00');
  if (rate === 0n) {
    expect([status.hours_left, runway.hours_left]).toEqual([null, null]);
  } else {
    const hundredths = left <= 0n ? 0n : (left * 100n) / rate;
    const text = `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`;
    expect([status.hours_left, runway.hours_left]).toEqual([text, text]);
    const end = (Date.parse(status.runs_out_at) - Date.parse(status.as_of)) / 1000;
    expect(BigInt(end)).toBe(left <= 0n ? 0n : (left * 3600n) / rate);
  }
}

describe('over a simulated month', () => {
  test.each(fewer([1, 2, 3, 4]))(
    "matches the sandbox's books to the kopeck (random %i)",
    async (seed) => {
      const random = randomNumbers(seed);
      const roll = (sides: number) => Math.floor(random() * sides);
      const offers = OFFERS.filter(({ in_stock }) => in_stock).slice(0, 3);
      await world.sandbox.reset({ balance: '25000.005' });
      const started = world.clock.now();
      let made = 0;
      let checked = 0;

      async function act(): Promise<void> {
        const { instances, drives } = await world.sandbox.status();
        const instance = instances[roll(Math.max(1, instances.length))];
        const drive = drives[roll(Math.max(1, drives.length))];
        // The sandbox may refuse an operation. The refusal is part of the test.
        switch (roll(10)) {
          case 0:
          case 1: {
            made += 1;
            const offer = offers[roll(offers.length)]?.id ?? '';
            await world.cli([
              ...['instances', 'create', `box-${made}`, '--offer', offer, '--image', IMAGE],
            ]);
            return;
          }
          case 2:
            if (instance !== undefined) await world.cli(['instances', 'stop', instance.id]);
            return;
          case 3:
            if (instance !== undefined) await world.cli(['instances', 'start', instance.id]);
            return;
          case 4:
            if (instance !== undefined)
              await world.cli(['instances', 'terminate', instance.id, '-y']);
            return;
          case 5:
            made += 1;
            await world.cli(['drives', 'create', `drive-${made}`, '--size', String(1 + roll(300))]);
            return;
          case 6:
            if (drive !== undefined) {
              const size = String(drive.size_gb + 1 + roll(50));
              await world.cli(['drives', 'update', drive.id, '--size', size]);
            }
            return;
          case 7:
            await world.sandbox.inject('fail-running');
            return;
          case 8:
            await world.sandbox.deposit(`${1 + roll(3000)}.${String(roll(1000)).padStart(3, '0')}`);
            return;
          default:
            await world.cli(['billing', 'promo', 'WELCOME500']);
        }
      }

      for (let step = 0; world.clock.now() - started < DAYS * DAY; step += 1) {
        await act();
        world.clock.advance(roll(20) * HOUR + roll(HOUR));
        if (step % 6 === 0) {
          await assertStatus();
          checked += 1;
        }
      }
      for (const by of ['day', 'week', 'month']) await assertSpend(by);
      await assertStatus();

      const entries = await books();
      expect(checked).toBeGreaterThan(DAYS / 4);
      expect(entries.length).toBeGreaterThan(DAYS * 3);
      expect(spentOf(entries) > 100n * UNIT).toBe(true);
    },
    120_000,
  );

  test('matches a manual calculation for an instance of 10 hours and 20 minutes', async () => {
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    // The first hour begins after three seconds, when the instance is ACTIVE.
    world.clock.advance(3000 + 10 * HOUR + 20 * 60_000);
    await world.cli(['instances', 'terminate', 'trainer', '-y']);
    // The charges are 10 × 89.90, plus 1200/3600 of 89.90, rounded to the kopeck.
    const rows: readonly Row[] = await json('billing', 'spend', '--by', 'month');
    expect(sumOf(rows.map(({ spent }) => spent))).toBe(units('928.97'));
    const status = await json('status');
    expect(status).toMatchObject({ balance: '9571.03', hours_left: null, runs_out_at: null });
    expect(status.burn.per_hour).toBe('0.00');
  });
});
