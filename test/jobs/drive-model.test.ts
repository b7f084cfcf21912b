import { describe, expect, test } from 'vitest';
import { drive, type Failed, type Steps } from '../../src/jobs/drive.ts';
import type { Driver, Happened, Observation, Situation } from '../../src/jobs/state.ts';
import { fc, randomNumbers, runs } from '../support/random.ts';

/** Thrown by any step to end its driver, as kill -9 does. */
class Killed extends Error {}

const PATHS = ['a', 'b'] as const;

/** One job on one instance, with a clock that each step moves. */
class World {
  status: 'ACTIVE' | 'TERMINATED' = 'ACTIVE';
  remote: 'absent' | 'running' | 'exited' | 'lost' = 'absent';
  starts = 0;
  /** How often each path was copied whole. */
  readonly copies = new Map<string, number>();
  /** Copyable results that an end threw away. */
  thrown: string[] = [];
  /** Whether a driver gave the results up, since it was interrupted or the deadline had passed. */
  isGivenUp = false;
  left = 100;
  code = 0;
  job: Happened & { readonly fetched: readonly string[] };
  isArmed: boolean;
  readonly keepsOnFailure: boolean;

  constructor(
    readonly random: () => number,
    { on, isArmed, keepsOnFailure }: { on: boolean; isArmed: boolean; keepsOnFailure: boolean },
  ) {
    this.isArmed = isArmed;
    this.keepsOnFailure = keepsOnFailure;
    this.job = {
      on,
      here: false,
      started: false,
      shown: false,
      exit_code: null,
      collected: false,
      lostReported: false,
      kept: null,
      stopRequested: false,
      ending: false,
      ended: false,
      fetched: [],
    };
  }

  chance(share: number): boolean {
    return this.random() < share;
  }

  /** Lets time pass, and the instance live on its own. */
  pass(): void {
    this.left -= Math.floor(this.random() * 4);
    if (this.remote === 'running') {
      if (this.chance(0.1)) this.exit(this.chance(0.5) ? 0 : 3);
      else if (this.chance(0.02)) this.remote = this.chance(0.5) ? 'lost' : 'absent';
    }
    if (this.status === 'ACTIVE' && this.chance(0.005)) {
      this.status = 'TERMINATED';
    }
  }

  exit(code: number): void {
    this.remote = 'exited';
    this.code = code;
  }
}

function stepsOf(world: World, driver: Driver, killsAt: number, faults: number): Steps {
  let writes = 0;
  let interrupt: Situation['interrupt'] = 'none';
  let isAsked = false;
  const write = (change: Partial<World['job']>) => {
    writes += 1;
    if (writes === killsAt) throw new Killed();
    world.job = { ...world.job, ...change };
  };
  const isFaulty = () => world.chance(faults);
  const observe = (): Observation => {
    world.pass();
    if (world.status === 'TERMINATED') return { kind: 'gone', isOver: true };
    if (isFaulty()) return { kind: 'unreachable' };
    return world.remote === 'exited'
      ? { kind: 'exited', code: world.code }
      : { kind: world.remote };
  };
  return {
    // The others are not asked: `jobs stop` itself asks, and `reap` never waits.
    happened: async () => ({ ...world.job, stopRequested: driver === 'run' && isAsked }),
    async situation() {
      if (interrupt === 'none' && driver !== 'reap' && world.chance(0.03)) interrupt = 'first';
      else if (interrupt === 'first' && world.chance(0.1)) interrupt = 'last';
      isAsked ||= world.chance(0.05);
      const { left } = world;
      return {
        time: left <= 0 ? 'past' : left <= 10 ? 'half' : left <= 20 ? 'near' : 'early',
        isLastTry: driver === 'reap' || world.chance(0.5),
        interrupt,
        isArmed: world.isArmed,
        skipsResults: false,
        keepsOnFailure: world.keepsOnFailure,
        keepsForResults: true,
      };
    },
    async look() {
      const seen = observe();
      const isThere = seen.kind === 'running' || seen.kind === 'exited' || seen.kind === 'lost';
      if (isThere && !world.job.shown) write({ shown: true });
      return seen;
    },
    async start() {
      world.pass();
      if (world.status === 'TERMINATED' || isFaulty()) return 'start';
      write({ started: true });
      if (writes + 1 === killsAt) throw new Killed();
      world.starts += 1;
      world.remote = 'running';
      write({ shown: true });
      return 'none';
    },
    async follow() {
      return { seen: observe(), failed: 'none' };
    },
    async interrupt() {
      if (world.remote === 'running' && world.chance(0.6)) world.exit(130);
    },
    async stop() {
      if (isFaulty()) return 'stop';
      if (world.remote === 'running') world.exit(137);
      return 'none';
    },
    async collect(seen) {
      if (seen.kind === 'exited') write({ exit_code: seen.code });
      for (const path of PATHS) {
        if (world.job.fetched.includes(path)) continue;
        world.pass();
        if (world.status === 'TERMINATED' || isFaulty()) return 'cut' satisfies Failed;
        if (isFaulty()) return 'here';
        if (seen.kind === 'running') continue;
        write({ fetched: [...world.job.fetched, path] });
        // After a kill between the copy and this, a later driver copies the path again.
        world.copies.set(path, (world.copies.get(path) ?? 0) + 1);
      }
      if (seen.kind !== 'running') write({ collected: true });
      return 'none';
    },
    async keep(kept) {
      world.left = Math.min(world.left, 40);
      write({ kept });
    },
    async stay() {
      world.pass();
    },
    async end() {
      const isCopyable = world.remote === 'exited' && world.status === 'ACTIVE';
      world.isGivenUp ||= world.left <= 10 || interrupt !== 'none';
      if (isCopyable && !world.job.collected && !world.isGivenUp) world.thrown.push(driver);
      write({ ending: true });
      // The service may refuse, except in the last passes.
      if (faults < 1 && isFaulty() && !world.job.on) return;
      if (!world.job.on) world.status = 'TERMINATED';
      write({ ended: true });
    },
    async report() {
      write({ ended: true });
    },
    async reportLost() {
      write({ lostReported: true });
    },
  };
}

const OTHERS: readonly Driver[] = ['attach', 'stop', 'reap'];

describe('drivers that take turns on one job', () => {
  test('start once, copy once, throw no result away, and end each instance', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ on: fc.boolean(), isArmed: fc.boolean(), keepsOnFailure: fc.boolean() }),
        fc.constantFrom<Driver>('run', 'detach'),
        fc.array(fc.tuple(fc.constantFrom(...OTHERS), fc.integer({ min: 1, max: 12 })), {
          maxLength: 6,
        }),
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom(0, 0.05, 0.3),
        fc.nat(),
        async (kind, first, others, killsAt, faults, seed) => {
          const world = new World(randomNumbers(seed), kind);
          for (const [driver, at] of [[first, killsAt], ...others] as const) {
            try {
              const how = await drive(driver, stepsOf(world, driver, at, faults));
              // A run that leaves a rented instance relies on reap, or is asked to leave.
              const isLeft = how === 'left' && !world.job.on && world.status === 'ACTIVE';
              if (driver === 'run' && isLeft) expect(world.isArmed).toBe(true);
            } catch (error) {
              if (!(error instanceof Killed)) throw error;
            }
          }
          expect(world.starts).toBeLessThanOrEqual(1);
          for (const count of world.copies.values()) expect(count).toBe(1);
          expect(world.thrown).toEqual([]);
          // A schedule ends what is left, at the deadline at the latest.
          if (kind.isArmed && !kind.on) {
            world.left = 0;
            // Even if the instance never responds again.
            for (let pass = 0; pass < 3 && world.status === 'ACTIVE'; pass += 1) {
              await drive('reap', stepsOf(world, 'reap', 0, seed % 2));
            }
            expect(world.status).toBe('TERMINATED');
          }
        },
      ),
      { numRuns: runs(4000) },
    );
  });
});

const STARTED: Partial<Happened> = { started: true, shown: true };
const DONE: Partial<Happened> = { ...STARTED, exit_code: 3, collected: true };

interface Script {
  readonly job?: Partial<Happened>;
  readonly now?: Partial<Situation>;
  /** What each look, or else each follow, shows. */
  readonly looks?: readonly Observation[];
  readonly follows?: readonly Observation[];
  /** How each start, follow, stop and copy fails. */
  readonly fails?: readonly Failed[];
  /** What a step changes in the job or the situation. */
  readonly changes?: Readonly<Record<string, Partial<Happened & Situation>>>;
}

/** Returns the steps that a driver takes, and how it finishes. */
async function taken(driver: Driver, script: Script): Promise<string[]> {
  const log: string[] = [];
  let job = { ...new World(() => 0, { on: false, isArmed: false, keepsOnFailure: false }).job };
  let now = {
    ...{ time: 'early', isLastTry: false, interrupt: 'none', isArmed: false },
    ...{ skipsResults: false, keepsOnFailure: false, keepsForResults: true },
  } as Situation;
  const [looks, follows, fails] = [script.looks, script.follows, script.fails].map((all) => [
    ...(all ?? []),
  ]) as [Observation[], Observation[], Failed[]];
  const change = (more: Partial<Happened & Situation> = {}) => {
    for (const [key, value] of Object.entries(more)) {
      if (key in job) job = { ...job, [key]: value };
      else now = { ...now, [key]: value };
    }
  };
  change({ ...script.job, ...script.now });
  const step = (name: string, about = '') => {
    log.push(`${name} ${about}`.trim());
    if (log.length > 20) throw new Error(log.join());
    change(script.changes?.[name]);
  };
  const failed = () => fails.shift() ?? 'none';
  const steps: Steps = {
    happened: async () => job,
    situation: async () => now,
    async look() {
      step('look');
      return looks.shift() ?? { kind: 'unreachable' };
    },
    async start() {
      step('start');
      return failed();
    },
    async follow() {
      step('follow');
      return { seen: follows.shift() ?? { kind: 'unreachable' }, failed: failed() };
    },
    interrupt: async () => step('interrupt'),
    async stop() {
      step('stop');
      return failed();
    },
    async collect({ kind }) {
      step('collect', kind);
      return failed();
    },
    async keep(kept) {
      step('keep', kept);
      change({ kept });
    },
    stay: async () => step('stay'),
    end: async ({ kind }) => step('end', kind),
    report: async () => step('report'),
    reportLost: async () => step('reportLost'),
  };
  const finish = await drive(driver, steps);
  return [...log, finish];
}

const RUNNING = { kind: 'running' } as const;
const EXITED = { kind: 'exited', code: 3 } as const;
const GONE = { kind: 'gone', isOver: true } as const;
const start = { started: true, shown: true };
const collect = { exit_code: 3, collected: true };

describe('a driver', () => {
  test.each<[string, Driver, Script, string]>([
    [
      'follows what it started',
      'run',
      { follows: [RUNNING, EXITED], changes: { start, collect } },
      'start, follow, follow, collect exited, end exited, ended',
    ],
    ['leaves it', 'detach', { changes: { start } }, 'start, left'],
    ['ends after a failed start', 'run', { fails: ['start'] }, 'start, end absent, ended'],
    [
      'looks after a failed start that may have left',
      'run',
      { fails: ['start'], looks: [RUNNING], follows: [GONE], changes: { start } },
      'start, look, follow, report, ended',
    ],
    [
      'looks again after a cut copy',
      'attach',
      { job: STARTED, looks: [EXITED, GONE], fails: ['cut'] },
      'look, collect exited, look, report, ended',
    ],
    [
      'does not look again after another',
      'attach',
      { job: STARTED, looks: [EXITED], fails: ['here'], changes: { stay: collect } },
      'look, collect exited, keep results, stay, end exited, ended',
    ],
    [
      'stops the command',
      'stop',
      { job: STARTED, looks: [RUNNING, EXITED], changes: { collect } },
      'look, stop, look, collect exited, end exited, ended',
    ],
    [
      'leaves a command that it can not stop',
      'stop',
      { job: STARTED, looks: [RUNNING, RUNNING], fails: ['stop'] },
      'look, stop, look, left',
    ],
    [
      'interrupts once, then copies once',
      'run',
      {
        ...{ job: STARTED, looks: [RUNNING], now: { time: 'near' }, follows: [RUNNING] },
        changes: { follow: { time: 'half' } },
      },
      'look, interrupt, follow, collect running, end running, ended',
    ],
    [
      'looks again after a cut copy beside the command',
      'run',
      {
        ...{ job: STARTED, looks: [RUNNING, EXITED], now: { time: 'half' }, fails: ['cut'] },
        changes: { stay: collect },
      },
      'look, collect running, look, keep results, stay, end exited, ended',
    ],
    [
      'keeps the instance of a failure',
      'run',
      { job: DONE, looks: [EXITED], now: { keepsOnFailure: true, isArmed: true } },
      'look, keep command, left',
    ],
    [
      'stays beside it',
      'run',
      {
        ...{ job: DONE, looks: [EXITED], now: { keepsOnFailure: true } },
        changes: { stay: { time: 'past' } },
      },
      'look, keep command, stay, end exited, ended',
    ],
    [
      'stays beside what it kept for a wrong path',
      'attach',
      {
        ...{ job: STARTED, looks: [EXITED], fails: ['missing'] },
        changes: { stay: { interrupt: 'first' } },
      },
      'look, collect exited, keep results, stay, left',
    ],
    [
      'does not stay beside what another process kept for one',
      'attach',
      { job: { ...STARTED, kept: 'results' }, looks: [EXITED], fails: ['missing'] },
      'look, collect exited, left',
    ],
    [
      'hands it over',
      'run',
      { job: { ...DONE, kept: 'command', stopRequested: true }, looks: [EXITED] },
      'look, handedOver',
    ],
    [
      'reports a lost command',
      'reap',
      { job: STARTED, looks: [{ kind: 'lost' }] },
      'look, reportLost, left',
    ],
    ['leaves an ended job', 'attach', { job: { ...DONE, ended: true } }, 'look, left'],
  ])('%s (%s)', async (_what, driver, script, steps) => {
    expect((await taken(driver, script)).join(', ')).toBe(steps);
  });
});
