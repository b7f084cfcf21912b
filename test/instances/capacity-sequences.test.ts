import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { diskImage, watchDisk } from '../support/disk-points.ts';
import { fc, runs } from '../support/random.ts';
import {
  type CliResult,
  createWorld,
  journalOf,
  TEST_KEY,
  type World,
} from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import {
  isDoubt,
  OUTCOMES,
  type ScriptedOutcome,
  ScriptedService,
} from '../support/scripted-service.ts';

const OFFERS = [1, 2, 3].map((n) => `11111111-1111-4222-8333-44445555000${n}`);
const IMAGE = HARDWARE.slice(2);

interface Sequence {
  readonly outcomes: readonly ScriptedOutcome[];
  /** The request at which Ctrl-C is pressed, and the number of requests until the second press. */
  readonly first: number | undefined;
  readonly second: number | undefined;
  /** The point of the kill: a disk access, a request or a response. */
  readonly kill: number | undefined;
  /** The value of `--min-count`. */
  readonly minCount: number | undefined;
}

const maybe = (max: number) => fc.option(fc.integer({ min: 1, max }), { nil: undefined });
const sequences = fc.record({
  outcomes: fc.array(fc.constantFrom(...OUTCOMES), { minLength: 1, maxLength: 8 }),
  first: maybe(25),
  second: maybe(5),
  // Within about 40 points the first request is stored, sent and resolved.
  kill: fc.oneof(maybe(40), maybe(200)),
  minCount: maybe(3),
});

const plain = { first: undefined, second: undefined, kill: undefined, minCount: undefined };
/** Covers each possible result in every run. */
const EXAMPLES: Sequence[] = [
  { ...plain, outcomes: ['409', 'ERROR', 'ACTIVE'] },
  { ...plain, outcomes: ['ACTIVE', 'slow'] },
  { ...plain, outcomes: ['401'] },
  { ...plain, outcomes: ['400', 'lost'] },
  { ...plain, outcomes: ['slow'], first: 4 },
  { ...plain, outcomes: ['404', '422', 'slow'], minCount: 3 },
  ...[1, 20, 40, 60].map((kill): Sequence => ({ ...plain, outcomes: ['ERROR'], kill })),
];

/** The soak runs a thousand sequences, which takes minutes. */
const isSoak = process.env.GPUCLOUD_SOAK !== undefined;

let world: World;
let script: ScriptedService;
/** Restores an empty computer for each sequence, since growing archives would slow it down. */
let newComputer: ReturnType<typeof diskImage>;
beforeAll(async () => {
  world = await createWorld({ handler: (request) => script.handler(request) });
  newComputer = diskImage(join(world.home, 'state'));
});
afterAll(() => world.close());

const openRequests = () =>
  journalOf(world, { service: world.service.url, account: 'user-1', apiKey: TEST_KEY }).requests();

/** The result of a run whose process exited or was killed. */
interface Played {
  readonly ran: CliResult;
  readonly isInterrupted: boolean;
  readonly isKilled: boolean;
}

async function play(argv: readonly string[], sequence: Sequence): Promise<Played> {
  const { outcomes, first, second, kill } = sequence;
  const interrupts = [new AbortController(), new AbortController()] as const;
  const press = (which: 0 | 1) =>
    interrupts[which].abort(new CliError('interrupted', 'Interrupted.'));
  const state = join(world.home, 'state');
  let image: ReturnType<typeof diskImage> | undefined;
  let points = 0;
  const onPoint = () => {
    points += 1;
    if (points !== kill) return;
    image = diskImage(state);
    script.isProcessDead = true;
    // Ends the process soon, since a killed process would do nothing more.
    press(0);
    press(1);
  };
  let requests = 0;
  script = new ScriptedService(
    outcomes,
    (isRequest) => {
      onPoint();
      if (!isRequest) return;
      requests += 1;
      if (first !== undefined && requests === first) press(0);
      if (first !== undefined && second !== undefined && requests === first + second - 1) press(1);
    },
    async (name, offer) =>
      (await openRequests()).some((one) => one.name === name && one.offer_id === offer),
  );
  const unwatch = watchDisk(onPoint);
  const ran = await world
    .cli(argv, { interrupts: { first: interrupts[0].signal, second: interrupts[1].signal } })
    .finally(unwatch);
  const isKilled = image !== undefined;
  image?.restore();
  image?.remove();
  script.isProcessDead = false;
  return { ran, isKilled, isInterrupted: !isKilled && interrupts[0].signal.aborted };
}

interface Row {
  readonly id: string | null;
  readonly name: string;
  readonly status: string;
}

async function listed(): Promise<readonly Row[]> {
  return JSON.parse((await world.cli(['instances', 'list', '--json'])).stdout);
}

/** Returns living instances that `list` shows neither by ID nor as an UNKNOWN request. */
async function lost(): Promise<unknown[]> {
  const rows = await listed();
  // The list comes first, since it may find that an instance has ended.
  return script
    .living()
    .filter(
      ({ id, name }) =>
        !rows.some((row) => row.id === id || (row.status === 'UNKNOWN' && row.name === name)),
    );
}

/** Runs each sequence, then the same command again, and returns the results. */
async function playAll(
  argvOf: (sequence: Sequence) => readonly string[],
  { most, check }: { most: number; check(played: Played, sequence: Sequence): void },
) {
  const seen = { codes: new Set<number>(), interrupted: 0, killed: 0 };
  const property = fc.asyncProperty(sequences, async (sequence) => {
    const argv = argvOf(sequence);
    const played = await play(argv, sequence);
    if (!played.isKilled) seen.codes.add(played.ran.code);
    if (played.isInterrupted) seen.interrupted += 1;
    if (played.isKilled) seen.killed += 1;
    const promises = async () => {
      expect(script.faults).toEqual([]);
      expect(script.doubled()).toEqual([]);
      expect(script.living().length).toBeLessThanOrEqual(most);
      expect(await lost()).toEqual([]);
    };
    await promises();
    if (!played.isKilled) check(played, sequence);
    // Running the command again must not rent a second instance with the same name.
    await world.cli(argv);
    await promises();
    newComputer.restore();
  });
  await fc.assert(property, {
    numRuns: isSoak ? 1000 : runs(40, 14),
    examples: EXAMPLES.map((one): [Sequence] => [one]),
  });
  return seen;
}

describe('instances create after kill -9 or Ctrl-C', { timeout: 1_800_000 }, () => {
  test('never leaves two instances, or one missing from the list, after kill -9 or Ctrl-C', async () => {
    const offers = OFFERS.flatMap((offer) => ['--offer', offer]);
    const argv = ['instances', 'create', 'trainer', ...IMAGE, ...offers, '--retry-for', '30m'];
    const seen = await playAll(() => [...argv, '--json'], {
      most: 1,
      check({ ran: { code, stdout } }) {
        if (code === 0) expect(JSON.parse(stdout).id).toBe(script.living()[0]?.id);
        if (script.used.some(({ outcome }) => isDoubt(outcome))) expect([7, 130]).toContain(code);
      },
    });
    expect([...seen.codes]).toEqual(expect.arrayContaining([0, 4, 7, 130]));
    expect(seen.interrupted).toBeGreaterThan(0);
    expect(seen.killed).toBeGreaterThan(0);
  });

  test('never leaves more than --count instances, or one missing from the list, after kill -9 or Ctrl-C', async () => {
    const argv = ['instances', 'create', 'gpu', ...HARDWARE, '--count', '3', '--wait', '--json'];
    const seen = await playAll(
      ({ minCount }) => [
        ...argv,
        ...(minCount === undefined ? [] : ['--min-count', `${minCount}`]),
      ],
      {
        most: 3,
        check({ ran: { code, stdout }, isInterrupted }, { minCount }) {
          const isInDoubt = script.used.some(({ outcome }) => isDoubt(outcome));
          if (code === 0) expect(script.living()).toHaveLength(3);
          if (isInDoubt) expect([7, 130]).toContain(code);
          if (isInterrupted || minCount === undefined || stdout === '') return;
          const rows: Row[] = JSON.parse(stdout);
          const active = rows.filter(({ status }) => status === 'ACTIVE').length;
          expect(active === 0 || active >= minCount).toBe(true);
        },
      },
    );
    expect([...seen.codes]).toEqual(expect.arrayContaining([0, 4, 7, 130]));
    expect(seen.killed).toBeGreaterThan(0);
  });
});
