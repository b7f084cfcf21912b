import { describe, expect, test } from 'vitest';
import { has, needs } from '../support/needs.ts';
import { PROGRAM } from '../support/program.ts';
import { diskKills, FILE_KILLS, NETWORK_KILLS } from './kills.ts';
import { FAULTS, NO_FAULT } from './proxy.ts';
import { allText, type Kill, openRig, type Rig, type Row, type Scenario } from './rig.ts';
import { SOAK, sample } from './tools.ts';

const HOUR = 3_600_000;
const FLAGS = ['--terminate-after', '4h', '--unenforced'];

interface Outcome {
  /** The violations, as messages. */
  readonly wrong: readonly string[];
  readonly rented: number;
  readonly terminated: number;
}

/**
 * Plays scenarios with a deadline, a few per computer, on three computers at once. Then advances the
 * service's clock by five hours and runs `reap` once.
 */
async function playAndReap(scenarios: readonly Scenario[], each = 8): Promise<Outcome> {
  const left = [...scenarios];
  const wrong: string[] = [];
  let rented = 0;
  let terminated = 0;
  let computers = 0;
  async function work(): Promise<void> {
    const own = left.splice(0, each);
    if (own.length === 0) return;
    const computer = computers;
    computers += 1;
    const rig = await openRig(PROGRAM);
    try {
      // Moves the service's clock, which decides about deadlines.
      rig.books.advance(([0, 26, -26][computer % 3] ?? 0) * HOUR);
      for (const scenario of own) await rig.play({ ...scenario, flags: FLAGS });
      rig.books.advance(5 * HOUR);
      const reaped = await reap(rig);
      wrong.push(...reaped.wrong);
      rented += reaped.rented;
      terminated += reaped.terminated;
    } finally {
      await rig.close();
    }
    await work();
  }
  // Much of a pass of `reap` is waiting.
  const ended = await Promise.allSettled([work(), work(), work()]);
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
  return { wrong, rented, terminated };
}

/** Runs `reap`. No instance with a stored ID may be alive, and the others must be UNKNOWN. */
async function reap({ books, gpucloud, home, proxy }: Rig): Promise<Outcome> {
  await proxy.arm(NO_FAULT);
  // An ID is stored once its temporary file is renamed: until then, the request is UNKNOWN.
  const kept = await allText(home, (name) => !name.endsWith('.tmp'));
  const { code, stderr } = await gpucloud(['instances', 'reap', '--json']);
  const list = await gpucloud(['instances', 'list', '--all', '--json']);
  const unknown = (JSON.parse(list.stdout) as Row[]).filter(({ status }) => status === 'UNKNOWN');
  const alive = [...books.instances.values()].filter(
    ({ status }) => !status.startsWith('TERMINAT'),
  );
  const rented = books.instances.size;
  const wrong = alive.flatMap(({ id, name }) => {
    if (kept.includes(id)) return [`${name} (${id}) is alive, and its ID was known`];
    return unknown.some((row) => row.name === name) ? [] : [`${name} (${id}) is lost`];
  });
  const expected = unknown.length === 0 ? 0 : 7;
  if (code !== expected) wrong.push(`reap exits with ${code}, not ${expected}: ${stderr}`);
  return { wrong, rented, terminated: rented - alive.length };
}

/** Expects at least one terminated instance, or none without `isAny`. */
function expectAllEnded({ wrong, rented, terminated }: Outcome, isAny = true): void {
  expect(wrong).toEqual([]);
  // Without a rental, the test would prove nothing.
  expect(rented).toBeGreaterThan(0);
  expect(terminated > 0).toBe(isAny);
}

const OPERATIONS = ['create', 'reorder'] as const;
const ALL = has('ssh') ? ([...OPERATIONS, 'run'] as const) : OPERATIONS;
const killed = (kills: readonly Kill[]): Scenario[] =>
  kills.map((kill, at) => ({ operation: ALL[at % ALL.length] ?? 'create', fault: NO_FAULT, kill }));

describe('reap after kill -9 of a rental', () => {
  test('exits with 7 and lists instances as UNKNOWN after a kill before the response', async () => {
    const kills = NETWORK_KILLS.filter((kill) => !('at' in kill && kill.at === 'answered'));
    expect(kills).toHaveLength(NETWORK_KILLS.length - 1);
    expectAllEnded(await playAndReap(killed(kills)), false);
  }, 300_000);

  test('terminates each known instance after a kill at the response or a journal file', async () => {
    const kills = [
      { at: 'answered' as const },
      ...FILE_KILLS,
      { file: /deadlines$/ },
      { file: /deadlines\/.*\.json$/ },
    ];
    expectAllEnded(await playAndReap(killed(kills)));
  }, 300_000);

  test('terminates each known instance after a kill before a disk call', {
    timeout: HOUR,
    ...needs('strace'),
  }, async () => {
    const kills = await diskKills(PROGRAM, 'create', 'first', FLAGS);
    const chosen = SOAK ? kills : sample(kills, 6);
    const scenarios = chosen.map(
      (kill): Scenario => ({ operation: 'create', fault: NO_FAULT, kill }),
    );
    // Uses a new computer per scenario, since only the first request creates all folders.
    expectAllEnded(await playAndReap(scenarios, 1));
  });
});

test(
  'terminates each known instance with reap after any network fault',
  async () => {
    const scenarios = FAULTS.map((fault, at): Scenario => {
      return { operation: OPERATIONS[at % 2] ?? 'create', fault };
    });
    expectAllEnded(await playAndReap(SOAK ? scenarios : sample(scenarios, 8)));
  },
  HOUR,
);
