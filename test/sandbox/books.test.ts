import { describe, expect, test } from 'vitest';
import { type Money, money, zero } from '../../src/rules/money.ts';
import { OFFERS } from '../../src/sandbox/catalog/offers.ts';
import { Refusal } from '../../src/sandbox/refusal.ts';
import { freshState } from '../../src/sandbox/seed.ts';
import { activatePromo } from '../../src/sandbox/service/account.ts';
import { createDrive, resumeDrive, updateDrive } from '../../src/sandbox/service/drives.ts';
import {
  createInstance,
  reorderInstance,
  startInstance,
  stopInstance,
  terminateInstance,
} from '../../src/sandbox/service/instances.ts';
import { topUp } from '../../src/sandbox/service/ledger.ts';
import { failRunning } from '../../src/sandbox/service/lifecycle.ts';
import { settle } from '../../src/sandbox/service/settle.ts';
import {
  FAULT_NAMES,
  type Instance,
  type State,
  stateSchema,
} from '../../src/sandbox/store/state.ts';
import { fc, runs } from '../support/random.ts';
import { HOUR, JUPYTERLAB, START, UBUNTU } from './support.ts';

function decimal(text: string): Money {
  const verdict = money(text);
  if (!verdict.ok) {
    throw new Error(text);
  }
  return verdict.value;
}

function sum(amounts: readonly string[]): Money {
  return amounts.reduce((total, amount) => total.plus(decimal(amount)), zero());
}

const which = fc.nat(99);
const size = fc.integer({ min: 1, max: 10_000 });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('create' as const),
      offer: fc.nat(3),
      template: fc.boolean(),
      drive: fc.option(which),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('start', 'stop', 'terminate', 'reorder', 'break'),
      which,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drive' as const), size }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('resize', 'resume'), which, size }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('deposit' as const),
      kopecks: fc.integer({ min: 1, max: 500_000 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('promo' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('fault' as const),
      fault: fc.constantFrom(...FAULT_NAMES),
    }),
  },
  // Seconds let statuses pass, hours end, and days delete a suspended drive.
  ...[10, 10_000, 700_000].map((max) => ({
    weight: max === 10 ? 5 : 1,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: fc.integer({ min: 0, max }),
    }),
  })),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const life = fc.record({
  opening: fc.constantFrom('0', '95.005', '1000.00', '50000'),
  steps: fc.array(step, { maxLength: 60, size: 'max' }),
});

function attempt(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Refusal)) {
      throw error;
    }
  }
}

function pick<T>(things: readonly T[], number: number): T | undefined {
  return things[number % Math.max(1, things.length)];
}

const FITTING: Readonly<Record<string, string>> = {
  start: 'STOPPED',
  stop: 'ACTIVE',
  break: 'ACTIVE',
  reorder: 'TERMINATED',
};

/** Mostly picks an instance that the operation fits, so that not everything is refused. */
function aim(state: State, operation: string, number: number): Instance | undefined {
  const wanted = number % 5 === 0 ? undefined : FITTING[operation];
  const fitting = state.instances.filter(({ status }) => status === (wanted ?? status));
  return pick(fitting, number);
}

function take(state: State, now: number, number: number, one: Step): number {
  const instance = 'which' in one ? aim(state, one.do, one.which) : undefined;
  const drive = 'which' in one ? pick(state.drives, one.which) : undefined;
  const id = instance?.id ?? 'none';
  switch (one.do) {
    case 'create':
      attempt(() =>
        createInstance(
          state,
          {
            offer_id: OFFERS[one.offer]?.id ?? '',
            image_id: UBUNTU,
            instance_name: `box-${number}`,
            template_id: one.template ? JUPYTERLAB : undefined,
            storage_drive_id: one.drive === null ? undefined : pick(state.drives, one.drive)?.id,
          },
          now,
        ),
      );
      return now;
    case 'start':
      attempt(() => startInstance(state, id, now));
      return now;
    case 'stop':
      attempt(() => stopInstance(state, id, now));
      return now;
    case 'terminate':
      attempt(() => terminateInstance(state, id, now));
      return now;
    case 'reorder':
      attempt(() => reorderInstance(state, id, `again-${number}`, now));
      return now;
    case 'break':
      if (instance?.status === 'ACTIVE') {
        failRunning(state, instance, now);
      }
      return now;
    case 'drive':
      createDrive(state, { name: 'disk', size_gb: one.size }, now);
      return now;
    case 'resize':
      attempt(() =>
        updateDrive(state, drive?.id ?? 'none', { name: 'disk', size_gb: one.size }, now),
      );
      return now;
    case 'resume':
      attempt(() => resumeDrive(state, drive?.id ?? 'none', now));
      return now;
    case 'deposit':
      topUp(state, 'DEPOSIT', decimal(String(one.kopecks)).div(100), 'Top-up', now);
      return now;
    case 'promo':
      attempt(() => activatePromo(state, 'WELCOME500', now));
      return now;
    case 'fault':
      state.faults.push(one.fault);
      return now;
    case 'wait':
      settle(state, now + one.seconds * 1000);
      return now + one.seconds * 1000;
  }
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

/** The state without random values. */
function withoutChance(state: State): unknown {
  const names = new Map(state.instances.map((instance) => [instance.id, instance.name]));
  return JSON.parse(JSON.stringify(state), (key, value: unknown) => {
    if (key === 'id' || key === 'secrets' || key === 'hash' || key === 'passwordHash') {
      return undefined;
    }
    return key === 'currentInstanceId' ? names.get(String(value)) : value;
  });
}

describe('random operations', () => {
  test('keep the books balanced after every step, and nothing is negative', () => {
    fc.assert(
      fc.property(life, ({ opening, steps }) => {
        const state = freshState(START, { balance: opening });
        let now = START;
        for (const [number, one] of steps.entries()) {
          now = take(state, now, number, one);
          checkBooks(state);
        }
      }),
      { numRuns: runs(150) },
    );
  });

  test('give the same books by one long jump and many short ones', () => {
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
      { numRuns: runs(100) },
    );
  });
});

describe('the random operations above', () => {
  test('reach every status and every kind of transaction', () => {
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
