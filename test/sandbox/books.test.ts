import { describe, expect, test } from 'vitest';
import { type Money, zero } from '../../src/rules/money.ts';
import { freshState } from '../../src/sandbox/seed.ts';
import { settle } from '../../src/sandbox/service/settle.ts';
import { type State, stateSchema } from '../../src/sandbox/store/state.ts';
import { fc, runs } from '../support/random.ts';
import { decimal, life, take } from './lives.ts';
import { HOUR, START } from './support.ts';

function sum(amounts: readonly string[]): Money {
  return amounts.reduce((total, amount) => total.plus(decimal(amount)), zero());
}

function checkBooks(state: State): void {
  const of = (type: string) =>
    sum(state.transactions.filter((entry) => entry.type === type).map((entry) => entry.amount));
  const incoming = of('DEPOSIT').plus(of('BONUS')).plus(of('REFUND'));
  const available = decimal(state.account.available);
  const reserved = sum(state.instances.map((instance) => instance.reserved));

  expect(available.plus(reserved).toFixed()).toBe(incoming.minus(of('USAGE_CHARGE')).toFixed());
  expect(available.gte(0)).toBe(true);
  for (const entry of state.transactions) {
    expect(decimal(entry.amount).gt(0)).toBe(true);
  }
  for (const instance of state.instances) {
    const holds = ['PROVISIONING', 'INSTALLING', 'ACTIVE', 'STARTING'].includes(instance.status);
    expect([instance.status, instance.reserved]).toEqual([
      instance.status,
      holds ? instance.price : '0.00',
    ]);
  }
  for (const drive of state.drives) {
    expect(decimal(drive.debt).gte(0)).toBe(true);
    const holder = state.instances.find((instance) => instance.id === drive.currentInstanceId);
    expect(drive.status === 'IN_USE' || drive.status === 'SYNCING').toBe(holder !== undefined);
  }
  expect(stateSchema.safeParse(state).success).toBe(true);
}

/** Returns the state without random values. */
function withoutChance(state: State): unknown {
  const names = new Map(state.instances.map((instance) => [instance.id, instance.name]));
  return JSON.parse(JSON.stringify(state), (key, value: unknown) => {
    if (key === 'id' || key === 'secrets' || key === 'hash' || key === 'passwordHash') {
      return undefined;
    }
    return key === 'currentInstanceId' ? names.get(String(value)) : value;
  });
}

describe('a random sequence of operations', () => {
  test('keeps the books balanced and no amount negative after every step', () => {
    fc.assert(
      fc.property(life, ({ opening, steps }) => {
        const state = freshState(START, { balance: opening });
        let now = START;
        for (const [number, one] of steps.entries()) {
          now = take(state, now, number, one);
          checkBooks(state);
        }
      }),
      { numRuns: runs(80, 38) },
    );
  });

  test('returns the same books after one long jump as after many short ones', () => {
    fc.assert(
      fc.property(life, fc.integer({ min: 1, max: 50 }), ({ opening, steps }, parts) => {
        const state = freshState(START, { balance: opening });
        let now = START;
        for (const [number, one] of steps.entries()) {
          now = take(state, now, number, one);
        }
        const jumped = structuredClone(state);
        const walked = structuredClone(state);
        settle(jumped, now + 24 * HOUR);
        for (let part = 1; part <= parts; part += 1) {
          settle(walked, now + Math.floor((24 * HOUR * part) / parts));
        }
        expect(withoutChance(walked)).toEqual(withoutChance(jumped));
      }),
      { numRuns: runs(60, 25) },
    );
  });
});

describe('the generator of operations', () => {
  test('generates every status and every type of transaction', () => {
    const seen = new Set<string>();
    for (const { opening, steps } of fc.sample(life, { numRuns: 300, seed: 1 })) {
      const state = freshState(START, { balance: opening });
      let now = START;
      for (const [number, one] of steps.entries()) {
        now = take(state, now, number, one);
        for (const thing of [...state.instances, ...state.drives]) seen.add(thing.status);
        for (const entry of state.transactions) seen.add(entry.type);
      }
    }
    for (const wanted of [
      ['PROVISIONING', 'ACTIVE', 'STOPPING', 'STOPPED', 'STARTING'],
      ['TERMINATING', 'TERMINATED', 'ERROR'],
      ['AVAILABLE', 'IN_USE', 'SYNCING', 'SUSPENDED', 'DELETED'],
      ['DEPOSIT', 'BONUS', 'USAGE_CHARGE', 'REFUND'],
    ].flat()) {
      expect(seen).toContain(wanted);
    }
  });
});
