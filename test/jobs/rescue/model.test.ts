import { expect, test } from 'vitest';
import { driveRescue, type Steps } from '../../../src/jobs/rescue/drive.ts';
import { dueOf } from '../../../src/jobs/rescue/pass.ts';
import { LAST_TRY } from '../../../src/jobs/verbs/hand-over.ts';
import { fc, randomNumbers, runs } from '../../support/random.ts';

/** Thrown by a write to end its pass, as kill -9 does. */
class Killed extends Error {}

const MINUTE = 60_000;
const START = Date.parse('2026-01-15T12:00:00.000Z');

/** What can fail, and the most time that the attempt takes. */
const FAULTS = {
  'disk full here': 20 * MINUTE,
  'link cut': 20 * MINUTE,
  'hostile archive': 20 * MINUTE,
  'path missing': MINUTE,
  'key refused': MINUTE / 2,
} as const;

interface Wish {
  readonly deadline: number;
  readonly paid: number;
  readonly every: number;
  readonly early: number;
  readonly fault: keyof typeof FAULTS;
  /** How often a copy fails, from 0 to 1. */
  readonly faults: number;
  readonly killing: number;
  readonly fullDisk: boolean;
  /** How often the instance ends elsewhere between two passes, from 0 to 1. */
  readonly gone: number;
  /** Milliseconds by which the service's clock steps back, once. */
  readonly stepsBack: number;
}

/** One instance, its files, and what this computer has stored. */
class World {
  now = START;
  isThere = true;
  ends = 0;
  /** Changes with each write to a file of the instance. */
  version = 1;
  copied: { version: number; at: number } | undefined;
  due: { at: string; by: string } | null = null;
  isLocked = false;
  /** How far the service's clock has stepped back. */
  back = 0;
  tries = 0;
  hasFailed = false;
  firstDue: number | undefined;
  endedAt: number | undefined;
  /** Why the end was allowed. */
  end: { isWhole: boolean; version: number } | undefined;

  constructor(
    readonly random: () => number,
    readonly wish: Wish,
  ) {}

  /** The time without the step back. */
  get real(): number {
    return this.now + this.back;
  }

  get iso(): string {
    return new Date(this.wish.deadline).toISOString();
  }

  /** Stores something, unless the process is killed before or after, or the disk is full. */
  write(change: () => void): boolean {
    if (this.random() < this.wish.killing) throw new Killed();
    if (this.wish.fullDisk) return false;
    change();
    if (this.random() < this.wish.killing) throw new Killed();
    return true;
  }

  spend(most: number): void {
    this.now += Math.floor(this.random() * most);
    if (this.random() < 0.2) this.version += 1;
  }
}

/** The steps of `rescueInstance`, with a fake copy and a fake service. */
function stepsOf(world: World): Steps {
  const { wish } = world;
  let isEarly = false;
  return {
    async situation() {
      const { now } = world;
      const due = dueOf({ deadline: world.iso }, world, now, isEarly);
      isEarly = due === null;
      let at = due === null ? undefined : Date.parse(due.at);
      if (at !== undefined) world.firstDue ??= at + world.back;
      if (due !== null && due.at !== world.due?.at) {
        const isStored = world.write(() => {
          world.due = due;
        });
        if (!isStored) at = Math.min(now, wish.deadline);
      }
      return {
        now,
        deadline: wish.deadline,
        due: at,
        early: wish.early,
        paid: wish.paid,
        every: wish.every,
      };
    },
    before: () => (world.copied !== undefined ? 'early' : world.hasFailed ? 'partly' : 'not yet'),
    async copy(until, isLast) {
      const isFailing = world.random() < wish.faults;
      const longest = isFailing ? FAULTS[wish.fault] : 20 * MINUTE;
      // `within` ends a copy that takes longer than the budget pays for.
      world.spend(Math.min(longest, Math.max(1, until - world.now)));
      world.tries += 1;
      // Nothing is left to copy.
      if (!world.isThere) return 'whole';
      if (isFailing) {
        world.write(() => {
          world.hasFailed = true;
        });
        return 'failed';
      }
      const { version, now } = world;
      world.write(() => undefined);
      world.copied = { version, at: now };
      return isLast ? 'whole' : 'copied';
    },
    async pause(until) {
      world.now += Math.max(1, Math.min(MINUTE / 2, until - world.now));
    },
    async end(isWhole) {
      // The one ending reads first, so a second termination finds the instance gone.
      if (!world.isThere) return;
      world.isThere = false;
      world.ends += 1;
      world.endedAt = world.now;
      world.end = { isWhole, version: world.version };
      world.write(() => undefined);
    },
  };
}

/** Runs one pass, unless another process copies. A killed process loses its lock. */
async function pass(world: World): Promise<void> {
  if (world.isLocked) return;
  world.isLocked = true;
  try {
    await driveRescue(stepsOf(world));
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  } finally {
    world.isLocked = false;
  }
}

const randoms = fc.integer().map((seed) => randomNumbers(seed));

const wishes = fc.record({
  deadline: fc.integer({ min: 10, max: 600 }).map((minutes) => START + minutes * MINUTE),
  paid: fc.constantFrom(0, 10 * MINUTE, 60 * MINUTE),
  every: fc.constantFrom(MINUTE, 5 * MINUTE, 25 * MINUTE),
  early: fc.constantFrom(2 * MINUTE, 15 * MINUTE),
  faults: fc.constantFrom(0, 0.5, 1),
  killing: fc.constantFrom(0, 0.1, 0.4),
  fullDisk: fc.boolean(),
  gone: fc.constantFrom(0, 0.02),
  fault: fc.constantFrom(...(Object.keys(FAULTS) as (keyof typeof FAULTS)[])),
  stepsBack: fc.constantFrom(0, 10 * MINUTE, 90 * MINUTE),
});

test('never ends an instance before its paths are here or its budget is used up, and never twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      wishes,
      randoms,
      fc.integer({ min: 0, max: 400 }),
      async (wish, random, slept) => {
        const world = new World(random, wish);
        let hasSlept = false;
        let hasStepped = false;
        for (let at = 0; at < 2_000 && world.isThere; at += 1) {
          // Two schedules at once.
          await Promise.all([pass(world), pass(world)]);
          if (!world.isThere) break;
          if (random() < wish.gone) {
            world.isThere = false;
            await Promise.all([pass(world), pass(world)]);
            expect(world.ends).toBe(0);
            return;
          }
          world.spend(1);
          world.now += wish.every;
          if (!hasSlept && random() < 0.05) {
            hasSlept = true;
            world.now += slept * MINUTE;
          }
          if (!hasStepped && random() < 0.05) {
            hasStepped = true;
            world.now -= wish.stepsBack;
            world.back = wish.stepsBack;
          }
        }
        expect(world.ends).toBe(1);
        const { end, endedAt = 0, firstDue = 0, copied, real } = world;
        expect(real).toBeGreaterThanOrEqual(wish.deadline);
        if (end?.isWhole === true) expect(copied?.version).toBeDefined();
        else {
          // At least one try, also after this computer slept longer than the budget.
          expect(world.tries).toBeGreaterThan(0);
          // A full disk can't store when the budget began, so it counts from the deadline.
          const from = wish.fullDisk ? wish.deadline : firstDue;
          expect(real).toBeGreaterThanOrEqual(from + wish.paid);
        }
        // Only sleep and killed passes make it later than one interval after the budget.
        if (!hasSlept && wish.killing === 0) {
          // A full disk can't store that a copy failed, so a pass without a budget tries once more.
          const late = wish.fullDisk && wish.paid === 0 ? LAST_TRY : 0;
          expect(endedAt).toBeLessThanOrEqual(wish.deadline + wish.paid + wish.every + late);
        }
      },
    ),
    { numRuns: runs(400) },
  );
});

test('ends with the newest version of files that did not change while they were copied', async () => {
  await fc.assert(
    fc.asyncProperty(wishes, randoms, async (wish, random) => {
      const world = new World(random, {
        ...wish,
        faults: 0,
        killing: 0,
        fullDisk: false,
        gone: 0,
        stepsBack: 0,
        paid: 60 * MINUTE,
      });
      for (let at = 0; at < 2_000 && world.isThere; at += 1) {
        await pass(world);
        world.now += wish.every;
      }
      expect(world.end).toEqual({ isWhole: true, version: world.copied?.version });
    }),
    { numRuns: runs(200) },
  );
});
