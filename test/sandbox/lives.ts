import { type Money, money } from '../../src/rules/money.ts';
import { OFFERS } from '../../src/sandbox/catalog/offers.ts';
import { Refusal } from '../../src/sandbox/refusal.ts';
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
import { FAULT_NAMES, type Instance, type State } from '../../src/sandbox/store/state.ts';
import { fc } from '../support/random.ts';
import { JUPYTERLAB, UBUNTU } from './support.ts';

// Generates random account histories, step by step from an opening balance.

export function decimal(text: string): Money {
  const verdict = money(text);
  if (!verdict.ok) {
    throw new Error(text);
  }
  return verdict.value;
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
  // Waits of seconds change statuses, of hours charge, and of days delete suspended drives.
  ...[10, 10_000, 700_000].map((max) => ({
    weight: max === 10 ? 5 : 1,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: fc.integer({ min: 0, max }),
    }),
  })),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

export const life = fc.record({
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

/** Mostly picks an instance with a fitting status, so that few operations are refused. */
function aim(state: State, operation: string, number: number): Instance | undefined {
  const wanted = number % 5 === 0 ? undefined : FITTING[operation];
  const fitting = state.instances.filter(({ status }) => status === (wanted ?? status));
  return pick(fitting, number);
}

export function take(state: State, now: number, number: number, one: Step): number {
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
