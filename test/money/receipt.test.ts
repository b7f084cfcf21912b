import { describe, expect, test } from 'vitest';
import { readRecentHistory } from '../../src/money/history.ts';
import { accountOf, areBooked, readCost } from '../../src/money/receipt.ts';
import { kopecksText, zero } from '../../src/rules/money.ts';
import { freshState } from '../../src/sandbox/seed.ts';
import { eventsPage } from '../../src/sandbox/service/events.ts';
import {
  createInstance,
  startInstance,
  stopInstance,
  terminateInstance,
} from '../../src/sandbox/service/instances.ts';
import { transactionsPage } from '../../src/sandbox/service/ledger.ts';
import { failRunning } from '../../src/sandbox/service/lifecycle.ts';
import { settle } from '../../src/sandbox/service/settle.ts';
import type { Instance, State } from '../../src/sandbox/store/state.ts';
import { decimal } from '../sandbox/lives.ts';
import { RTX_4090, START, UBUNTU } from '../sandbox/support.ts';
import { fc } from '../support/random.ts';

const time = (minute: number) => new Date(START + minute * 60_000).toISOString();
const event = (action: string, amount: unknown, minute = 0) => ({
  type: 'BILLING',
  payload: { action, amount },
  created_at: time(minute),
});
const entry = (type: string, amount: string, minute = 0, status = 'COMPLETED') => ({
  id: `${type} ${amount} ${minute}`,
  type,
  status,
  amount,
  created_at: time(minute),
});

const closed = [event('reserve', '89.905'), event('charge', '0.35'), event('release', '89.555')];

describe('the account of an instance', () => {
  test.each([
    ['charges what was not returned', closed, '0.35'],
    [
      'subtracts refunds',
      [event('reserve', '90'), event('charge', '90'), event('refund', '89.5')],
      '0.50',
    ],
    ['costs nothing if all was returned', [event('reserve', '90'), event('release', '90')], '0.00'],
    [
      'adds up hours, and counts no failed reservation',
      [1, 2]
        .flatMap(() => [event('reserve', '54'), event('charge', '54')])
        .concat(event('reserve_failed', '54')),
      '108.00',
    ],
    [
      'ignores other events',
      [...closed, { type: 'INFO', payload: null, created_at: null }],
      '0.35',
    ],
  ])('%s', (_how, events, cost) => {
    const account = accountOf(events, time(0));
    expect(account.kind === 'closed' && kopecksText(account.cost)).toBe(cost);
  });

  test.each([
    ['a missing return', [event('reserve', '90'), event('charge', '0.35')], 'open'],
    ['a missing charge', [event('reserve', '90'), event('release', '89.65')], 'open'],
    ['a running hour', [event('reserve', '90')], 'open'],
    ['more charges than reservations', [event('reserve', '90'), event('charge', '91')], 'open'],
    ['no financial action', [{ type: 'INFO', payload: null, created_at: time(0) }], 'unknown'],
    ['an empty log', [], 'unknown'],
    ['charges without a reservation', [event('charge', '90')], 'unknown'],
    ['more refunds than charges', [...closed, event('refund', '0.36')], 'unknown'],
    ['another action', [...closed, event('CHARGE', '1')], 'unknown'],
    ['a number as amount', [...closed, event('charge', 1)], 'unknown'],
    ['a negative amount', [...closed, event('charge', '-1')], 'unknown'],
    ['no payload', [...closed, { type: 'BILLING', payload: null, created_at: time(0) }], 'unknown'],
    [
      'old events that the service has dropped',
      [event('reserve', '54', 62), event('charge', '54', 122)],
      'unknown',
    ],
    ['an unreadable time', [{ ...event('reserve', '1'), created_at: 'soon' }], 'unknown'],
  ])('is not closed with %s', (_how, events, kind) => {
    expect(accountOf(events, time(0))).toEqual({ kind });
  });

  test.each([
    ['at', time(0), 'closed'],
    ['a minute before', time(1), 'closed'],
    ['a minute after', time(-1), 'closed'],
    ['more than a minute after', '2026-01-01', 'unknown'],
    ['at an unknown time after', undefined, 'unknown'],
  ])('begins with the reservation %s the creation', (_when, created_at, kind) => {
    expect(accountOf(closed, created_at).kind).toBe(kind);
  });

  test.each([
    ['the same time', [entry('USAGE_CHARGE', '0.350')], true],
    ['a minute later', [entry('USAGE_CHARGE', '0.35', 1)], true],
    ['two minutes later', [entry('USAGE_CHARGE', '0.35', 2)], false],
    ['another amount', [entry('USAGE_CHARGE', '0.36')], false],
    ['another type', [entry('REFUND', '0.35')], false],
    ['a payment that is not completed', [entry('USAGE_CHARGE', '0.35', 0, 'PENDING')], false],
    ['no transaction', [], false],
  ])('is confirmed by its transaction only: %s', async (_how, entries, isBooked) => {
    const api = { ...logOf(closed), billing: { transactions: async () => pageOf(entries) } };
    const cost = await readCost({ id: 'i-1', created_at: time(0) }, api, {});
    expect(String(cost)).toBe(isBooked ? '0.35' : 'open');
  });

  test.each([
    [1000, '0.35'],
    [1001, 'unknown'],
  ])('reads a log of %d events, at most ten pages: %s', async (total, expected) => {
    const others = Array.from({ length: total - 3 }, () => ({ type: 'INFO', created_at: time(0) }));
    const log = [...others, ...closed].map((one, at) => ({ ...one, id: `${at}` }));
    const events = async (_id: string, { page = 1, limit = 10 } = {}) =>
      asSent({
        data: log.slice((page - 1) * limit, page * limit),
        meta: { total, page, limit, total_pages: Math.ceil(total / limit) },
      });
    const entries = [entry('DEPOSIT', '1'), entry('USAGE_CHARGE', '0.35', -1)];
    const transactions = async ({ page = 1 } = {}) =>
      asSent({
        data: entries.slice(page - 1, page),
        meta: { total: 2, page, limit: 1, total_pages: 2 },
      });
    const api = { instances: { events }, billing: { transactions } };
    expect(String(await readCost({ id: 'i-1', created_at: time(0) }, api, {}))).toBe(expected);
  });

  test('reads no transactions for an instance that paid nothing', async () => {
    const api = { ...logOf([event('reserve', '90'), event('release', '90')]), billing: NO_LEDGER };
    expect(String(await readCost({ id: 'i-1', created_at: time(0) }, api, {}))).toBe('0');
  });

  test.each([
    [60_000, 'closed'],
    [60_001, 'unknown'],
    [-60_000, 'closed'],
    [-60_001, 'unknown'],
  ])('with a first reservation %i ms after its creation is %s', (apart, kind) => {
    expect(accountOf(closed, new Date(START - apart).toISOString()).kind).toBe(kind);
  });

  test('needs a transaction for each of two equal charges', () => {
    const twice = [event('reserve', '2'), event('charge', '1'), event('charge', '1', 1)];
    const account = accountOf(twice, time(0));
    const payments = account.kind === 'closed' ? account.payments : [];
    const first = entry('USAGE_CHARGE', '1');
    expect(areBooked(payments, [first])).toBe(false);
    expect(areBooked(payments, [first, entry('USAGE_CHARGE', '1', 1)])).toBe(true);
    // Of two that fit, the first payment has the first.
    const later = payments.map((payment, at) => ({ ...payment, at: START + at * 60_000 }));
    expect(areBooked(later, [entry('USAGE_CHARGE', '1', -1), first])).toBe(true);
  });
});

test.each([
  ['up to the time', '10 9, 8 7, 6', 8, time(8), 4],
  ['to its end', '10 9, 8 7', 0, 'start', 4],
  ['to its end if it is in another order', '10 9, 7 8, 6 5', 9, 'start', 6],
  ['of six pages', '8, 7, 6, 5, 4, 3, 2', 0, new Date(START + 180_001).toISOString(), 6],
  ['of six pages in another order', '2 8, 7, 6, 5, 4, 3', 7, 'start', 7],
  ['not at all if it is in another order and long', '2 8, 7, 6, 5, 4, 3, 1', 7, 'unknown', 2],
])('reads a history %s: %s since %d', async (_how, minutes, since, expected, count) => {
  const pages = minutes
    .split(', ')
    .map((page) => page.split(' ').map((minute) => entry('DEPOSIT', '1', Number(minute))));
  const transactions = async ({ page = 1 } = {}) =>
    asSent({
      data: pages[page - 1],
      meta: { total: pages.flat().length, page, limit: 1, total_pages: pages.length },
    });
  const { entries, from } = await readRecentHistory(
    { billing: { transactions } },
    START + since * 60_000,
  );
  const shown = from === undefined ? 'unknown' : from < 0 ? 'start' : new Date(from).toISOString();
  expect([shown, entries.length]).toEqual([expected, count]);
});

/** What happens to the instance of one job. */
const life = fc.record({
  /** In thousandths of a rouble. */
  price: fc.integer({ min: 1, max: 300_000 }),
  seconds: fc.oneof(fc.nat(59), fc.nat(3600), fc.nat(40_000)),
  /** Seconds between a stop and a start. */
  pause: fc.option(fc.integer({ min: 2, max: 5000 }), { freq: 4 }),
  fails: fc.boolean(),
});
type Life = typeof life extends fc.Arbitrary<infer T> ? T : never;

/** Rents an instance at a price that the sandbox's own offers don't have. */
function rent(state: State, name: string, { price: thousandths }: Life, now: number): Instance {
  const given = { offer_id: RTX_4090, image_id: UBUNTU, instance_name: name };
  const instance = createInstance(state, given, now);
  const price = decimal(String(thousandths)).div(1000).toFixed(3);
  Object.assign(instance, { price, reserved: price });
  for (const event of instance.events.filter(({ type }) => type === 'BILLING')) {
    event.payload = { action: 'reserve', amount: price };
  }
  return instance;
}

/** Returns when the instance was terminated. */
function live(state: State, instance: Instance, one: Life, begin: number): number {
  const { seconds, pause, fails } = one;
  let now = begin;
  const pass = (more: number) => {
    now += more * 1000;
    settle(state, now);
  };
  pass(seconds);
  if (pause !== null && instance.status === 'ACTIVE') {
    stopInstance(state, instance.id, now);
    pass(pause);
    startInstance(state, instance.id, now);
    pass(seconds % 700);
  }
  if (fails && instance.status === 'ACTIVE') failRunning(state, instance, now);
  terminateInstance(state, instance.id, now);
  return now;
}

describe('the cost of random jobs in the sandbox', () => {
  test('equals their transactions to the kopeck for 200 accounts, and is open until the end', async () => {
    let [refunds, hours] = [0, 0];
    await fc.assert(
      fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 4 }), async (lives) => {
        const state = freshState(START, { balance: '1000000' });
        let now = START;
        for (const [number, one] of lives.entries()) {
          const name = `job-${number}`;
          const instance = rent(state, name, one, now);
          const api = apiOf(state, instance);
          const shown = { id: instance.id, created_at: new Date(now).toISOString() };
          expect(await readCost(shown, api, {})).toBe('open');
          now = live(state, instance, one, now);
          const of = (type: string) =>
            state.transactions
              .filter((entry) => entry.type === type && entry.description.endsWith(` ${name}`))
              .reduce((sum, { amount }) => sum.plus(decimal(amount)), zero());
          const [charged, refunded] = [of('USAGE_CHARGE'), of('REFUND')];
          const cost = await readCost(shown, api, {});
          expect(String(cost)).toBe(String(charged.minus(refunded)));
          refunds += refunded.gt(0) ? 1 : 0;
          hours += charged.gt(instance.price) ? 1 : 0;
        }
      }),
      { numRuns: 200 },
    );
    // The random lives have what the test is about.
    expect(Math.min(refunds, hours)).toBeGreaterThan(10);
  });
});

/** The lists of the sandbox, as a client reads them. */
function apiOf(state: State, instance: Instance): Parameters<typeof readCost>[1] {
  return {
    instances: {
      events: async (_id, { page = 1, limit = 10 } = {}) =>
        asSent(eventsPage(instance, page, limit)),
    },
    billing: {
      transactions: async ({ page = 1, limit = 20 } = {}) =>
        asSent(transactionsPage(state, page, limit, undefined)),
    },
  };
}

function pageOf<T>(data: readonly T[]) {
  return asSent({ data, meta: { total: data.length, page: 1, limit: 100, total_pages: 1 } });
}

const logOf = (events: readonly unknown[]) => ({
  instances: { events: async () => pageOf(events) },
});
const NO_LEDGER = {
  transactions: () => Promise.reject(new Error('no transaction is needed')),
};

function asSent(page: unknown) {
  return JSON.parse(JSON.stringify(page));
}
