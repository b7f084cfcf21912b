import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import {
  CREATE,
  type DeadlineWorld,
  deadlineWorld,
  ID,
  listed,
} from '../commands/instances/deadlines/world.ts';
import { addKey } from '../jobs/rescue/rented.ts';
import { jobRecord } from '../support/job-record.ts';
import { needs } from '../support/needs.ts';
import { warningsOf } from '../support/stderr-lines.ts';
import { PARTS } from './probe-output.ts';
import { type FakeSsh, fakeSsh, realSleeps } from './usage-world.ts';

const MINUTE = 60_000;
const PORT = 1;
const REAP = ['instances', 'reap', '--every', '25m', '--json'];
const RULE = ['--if-idle', '45m'];

let ssh: FakeSsh;
let world: DeadlineWorld;
/** The instance's uptime in seconds since the first pass. */
let seconds: number;
let hasRun: boolean;

beforeEach(async () => {
  ssh = fakeSsh();
  ssh.add(PORT);
  seconds = 0;
  hasRun = false;
  world = await deadlineWorld({ clock: realSleeps() });
  await world.arm();
});
afterEach(async () => {
  await world.close();
  ssh.close();
});

const cli = (argv: readonly string[]) => world.cli(argv, { env: ssh.env });
const terminations = () =>
  world.service.requests.filter(({ path }) => path.endsWith('/terminate')).length;

async function rent(...more: string[]): Promise<void> {
  const { code, stderr } = await cli([...CREATE, ...more]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  run();
}

function run(more: object = {}): void {
  const sshPart = { ip_address: '192.168.5.6', ssh_username: 'root', ssh_port: PORT };
  world.rented.rent(ID, 'trainer', { status: 'ACTIVE', ...sshPart, ...more });
}

/** Moves every clock. */
function pass(minutes: number): void {
  world.clock.advance(minutes * MINUTE);
  seconds += minutes * 60;
  ssh.write(PORT, 'proc/uptime', `${5000 + seconds}.25 9000.00\n`);
}

/** Runs `reap` this many times, 25 minutes apart, and returns all outcomes. */
async function passes(count: number, each: (at: number) => void = () => undefined) {
  const outcomes: string[] = [];
  for (let at = 0; at < count; at += 1) {
    if (hasRun) pass(25);
    hasRun = true;
    each(at);
    const { code, stdout } = await cli(REAP);
    expect(code).toBe(0);
    outcomes.push(...JSON.parse(stdout).map(({ outcome }: { outcome: string }) => outcome));
  }
  return outcomes;
}

/** Returns the stored evidence of the instance. */
function evidence(): Record<string, unknown> | undefined {
  return evidencePaths().map((path) => JSON.parse(readFileSync(path, 'utf8')))[0];
}

function evidencePaths(): string[] {
  const journal = join(world.home, 'state', 'journal');
  const paths = readdirSync(journal, { recursive: true, encoding: 'utf8' });
  return paths
    .filter((path) => /\/idle\/[^/]+\.json$/.test(path))
    .map((path) => join(journal, path));
}

describe('reap', () => {
  test('terminates an instance after its idle time, not one reap earlier', async () => {
    await rent(...RULE);
    expect(await passes(2)).toEqual([]);
    pass(25);
    await cli(REAP);
    expect(terminations()).toBe(1);
    expect(await passes(1)).toEqual([]);
  });

  test('copies the --rescue paths of an idle instance before it ends', needs('ssh'), async () => {
    await rent();
    const own = addKey(world.home);
    world.rented.sshKeys = [own];
    run({ ssh_keys: [own] });
    ssh.write(PORT, 'home/out/a', 'result\n');
    const got = join(world.home, 'got');
    const rescue = ['instances', 'expire', 'trainer', '--rescue', `out:${got}`];
    await cli(rescue);
    await cli([...rescue, ...RULE]);
    expect(await passes(2)).toEqual([]);
    await cli([...REAP, '--dry-run']);
    expect(existsSync(got)).toBe(false);
    pass(25);
    const plan = await cli([...REAP, '--dry-run']);
    expect(JSON.parse(plan.stdout)).toMatchObject([
      { action: 'rescue', why: 'it was idle for 45 min' },
    ]);
    expect(existsSync(got)).toBe(false);
    await cli(REAP);
    expect(readFileSync(join(got, 'a'), 'utf8')).toBe('result\n');
  });

  test('says with --dry-run what it would do, and keeps the recorded use', async () => {
    await rent(...RULE);
    const plan = async () => {
      const recorded = evidence();
      const { stdout } = await cli([...REAP, '--dry-run']);
      expect(evidence()).toEqual(recorded);
      return JSON.parse(stdout);
    };
    expect(await passes(2)).toEqual([]);
    const row = { id: ID, name: 'trainer', deadline: null };
    expect(await plan()).toEqual([{ ...row, action: 'nothing', why: 'it is not due' }]);
    pass(25);
    expect(await plan()).toEqual([{ ...row, action: 'terminate', why: 'it was idle for 45 min' }]);
    await cli(['instances', 'reap', '--json', '--dry-run']);
    expect(terminations()).toBe(0);
    await cli(REAP);
    expect(terminations()).toBe(1);
  });

  test.each<[string, () => void]>([
    ['a card', () => ssh.program(PORT, 'nvidia-smi', "echo '0, H100, 6, 5, 81559, 31, 69.95'")],
    [
      'the processor',
      () =>
        ssh.write(
          PORT,
          'proc/stat',
          `cpu  ${1000 + seconds * 11} 0 500 90000 300 0 20 0\nbtime 1768473400\n`,
        ),
    ],
    [
      'the network',
      () => {
        const lines = (PARTS.net ?? '').replace('4000 ', `${4000 + seconds * 11_000} `);
        ssh.write(PORT, 'proc/net/dev', `${lines}\n`);
      },
    ],
    [
      'a terminal',
      () => ssh.program(PORT, 'who', "echo 'ann  pts/0  Jan 15 10:00 00:03  1234 (10.0.0.1)'"),
    ],
    [
      'a terminal that who omits',
      () => {
        ssh.write(PORT, 'proc/pts/0', '');
        ssh.program(PORT, 'stat', 'echo $(($(date +%s) - 180))');
      },
    ],
    ['a job', () => ssh.write(PORT, 'home/gpucloud-run/started/x', '')],
  ])('keeps an instance in use by %s', async (_what, use) => {
    await rent(...RULE);
    expect(await passes(3, use)).toEqual([]);
    expect(terminations()).toBe(0);
  });

  test('counts an instance as in use and warns if nvidia-smi is missing', async () => {
    await rent(...RULE);
    expect(await passes(2)).toEqual([]);
    ssh.program(PORT, 'nvidia-smi', 'exit 127');
    pass(25);
    await cli(REAP);
    ssh.add(PORT);
    expect(await passes(2)).toEqual([]);
    expect(await passes(1)).toEqual(['terminated']);
  });

  test('keeps an instance that is in use at the second check', async () => {
    await rent(...RULE);
    expect(await passes(2)).toEqual([]);
    // The first check reads three samples; the next sample shows a busy card.
    ssh.program(
      PORT,
      'nvidia-smi',
      `echo x >> calls; [ $(wc -l < calls) -gt 3 ] && load=50 || load=0; echo "0, H100, $load, 5, 81559, 31, 69.95"`,
    );
    expect(await passes(1)).toEqual([]);
    expect(terminations()).toBe(0);
    expect(evidence()).toMatchObject({ begun: false, since: null });
  });

  test('restarts the idle time after a stop, a gap, and a clock step', async () => {
    await rent(...RULE);
    expect(await passes(2)).toEqual([]);
    run({ status: 'STOPPED' });
    expect(await passes(1)).toEqual([]);
    run({ started_at: '2026-01-15T13:00:00Z' });
    expect(await passes(2)).toEqual([]);
    // Leaves a gap of more than two intervals.
    pass(26);
    expect(await passes(2)).toEqual([]);
    world.ahead = 4 * MINUTE;
    expect(await passes(2)).toEqual([]);
    expect(terminations()).toBe(0);
    expect(await passes(1)).toEqual(['terminated']);
  });

  test.each([[['--never']], [RULE]])(
    'keeps an instance if expire %j changes its rule during the check',
    async (change) => {
      await rent(...RULE);
      expect(await passes(2)).toEqual([]);
      pass(25);
      let reads = 0;
      world.rented.onRead = async () => {
        reads += 1;
        // The second check reads the instance.
        if (reads === 2) await cli(['instances', 'expire', 'trainer', ...change]);
      };
      expect(JSON.parse((await cli(REAP)).stdout)).toEqual([]);
      expect(reads).toBeGreaterThan(2);
      expect(terminations()).toBe(0);
    },
  );

  test('keeps an instance if this computer slept during the check', async () => {
    await rent(...RULE);
    expect(await passes(2)).toEqual([]);
    pass(25);
    let reads = 0;
    world.rented.onRead = async () => {
      reads += 1;
      // While a computer sleeps, its wall clock moves but its monotonic clock does not.
      if (reads === 2) world.clock.step(10 * MINUTE);
    };
    expect(JSON.parse((await cli(REAP)).stdout)).toEqual([]);
    expect(reads).toBeGreaterThan(1);
    expect(terminations()).toBe(0);
  });

  test('sends one termination if two reaps run at the same time', async () => {
    await rent(...RULE);
    expect(await passes(2)).toEqual([]);
    pass(25);
    const both = await Promise.all([cli(REAP), cli(REAP)]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(both.flatMap(({ stdout }) => JSON.parse(stdout))).toHaveLength(1);
    expect(terminations()).toBe(1);
  });

  test.each<[string, (signal: AbortController) => void]>([
    ['an instance that does not respond', () => undefined],
    ['Ctrl-C', (stop) => stop.abort(new CliError('interrupted', 'Interrupted.'))],
  ])('keeps an instance whose check is stopped by %s', async (_what, onLimit) => {
    await rent(...RULE);
    expect(await passes(2)).toEqual([]);
    pass(25);
    ssh.ssh(PORT, 'exec sleep 30');
    const [stop, second] = [new AbortController(), new AbortController()];
    const really = world.clock.sleep;
    world.clock.sleep = async (milliseconds, signal) => {
      if (milliseconds !== 20_000) return really(milliseconds, signal);
      onLimit(stop);
    };
    const interrupts = { first: stop.signal, second: second.signal };
    await world.cli(REAP, { env: ssh.env, interrupts });
    expect(terminations()).toBe(0);
  });

  test('retries a refused termination in the next reap', async () => {
    await rent(...RULE);
    expect(await passes(2)).toEqual([]);
    world.rented.terminations.push(
      ...Array.from({ length: 4 }, () => () => ({
        status: 403,
        body: { statusCode: 403, message: 'no', error: 'Forbidden' },
      })),
    );
    pass(25);
    const refused = await cli(REAP);
    expect(refused.code).not.toBe(0);
    expect(JSON.parse(refused.stdout)).toMatchObject([{ reason: 'idle' }]);
    world.rented.terminations.length = 0;
    expect(await passes(1)).toEqual(['terminated']);
  });
});

describe('a job that has exited', () => {
  /** Creates an exited job whose results can't be copied, since a file blocks the local folder. */
  const exited = async (more: object) => {
    await rent(...RULE);
    ssh.write(PORT, 'home/gpucloud-run/started/x/y', '');
    ssh.write(PORT, 'home/gpucloud-run/work/result', 'x');
    ssh.write(PORT, 'home/gpucloud-run/exit', '000\n');
    const service = world.service.url;
    const fetch = [
      { remote: 'result', local: join(world.home, 'taken', 'result'), fetched_at: null },
    ];
    const started_at = new Date(world.clock.now()).toISOString();
    const given = { id: ID, name: 'trainer', service };
    const job = jobRecord(given, { fetch, started_at, ...more });
    writeFileSync(join(world.home, 'taken'), '');
    const jobs = join(world.home, 'state', 'jobs');
    mkdirSync(jobs, { recursive: true, mode: 0o700 });
    writeFileSync(join(jobs, `${ID}.json`), JSON.stringify(job), { mode: 0o600 });
  };
  const ends = async () => {
    const rows: object[] = [];
    for (let at = 0; at < 3; at += 1) {
      if (at > 0) pass(25);
      rows.push(...JSON.parse((await cli(REAP)).stdout));
    }
    return rows;
  };

  test.each([
    [{ kept: null }, 'refused'],
    [{ kept: 'results' }, 'kept'],
  ])("protects a job's instance while results are not copied: %j", async (more, outcome) => {
    await exited(more);
    const failed = { reason: 'job', outcome, exit_code: 0 };
    expect(await ends()).toMatchObject([failed, failed, failed]);
    const record = readFileSync(join(world.home, 'state', 'jobs', `${ID}.json`), 'utf8');
    expect(JSON.parse(record)).toMatchObject({ ...more, ended_at: null });
    expect(terminations()).toBe(0);
    expect(await listed(world)).toMatchObject([{ idle_seconds: 0 }]);
  });

  test.each([
    ['its instance was kept for the command', { kept: 'command' }],
    ['its record is closed', { ended_at: '2026-01-15T12:00:00Z' }],
  ])("does not protect a job's instance if %s", async (_what, more) => {
    await exited(more);
    expect(await ends()).toMatchObject([{ reason: 'idle', outcome: 'terminated' }]);
  });

  test('protects an instance whose job runs in the folder of its first sign-in', async () => {
    const home = ssh.path(PORT, 'elsewhere');
    await exited({ kept: 'command', home });
    rmSync(ssh.path(PORT, 'home/gpucloud-run'), { recursive: true });
    ssh.write(PORT, 'elsewhere/gpucloud-run/started/x/y', '');
    expect(await ends()).toEqual([]);
    expect(terminations()).toBe(0);
  });

  test('protects an instance that existed before the job', async () => {
    await exited({ on: true });
    const failed = { reason: 'job', outcome: 'kept' };
    expect(await ends()).toMatchObject([failed, failed, failed]);
    expect(terminations()).toBe(0);
  });
});

describe('evidence', () => {
  test('marks the evidence file as incomplete during the check', async () => {
    await rent(...RULE);
    expect(await passes(2)).toEqual([]);
    const [path = ''] = evidencePaths();
    const before = readFileSync(path, 'utf8');
    expect(JSON.parse(before)).toMatchObject({ begun: false, since: { uptime: 5000.25 } });
    ssh.program(PORT, 'nvidia-smi', `cp '${path}' copy; echo '${PARTS.cards1}'`);
    expect(await passes(1)).toEqual(['terminated']);
    const during = readFileSync(ssh.path(PORT, 'home/copy'), 'utf8');
    expect(JSON.parse(during)).toEqual({ ...JSON.parse(before), begun: true });
  });

  test.each([
    ['before', false],
    ['during', true],
  ])(
    "keeps an instance whose evidence can't be stored from %s the check on",
    async (_when, checks) => {
      await rent(...RULE);
      expect(await passes(2)).toEqual([]);
      const [path = ''] = evidencePaths();
      // A folder in the file's place.
      if (!checks) {
        rmSync(path);
        mkdirSync(path);
      }
      const busy = '0, H100, 50, 5, 81559, 31, 69.95';
      ssh.program(
        PORT,
        'nvidia-smi',
        `rm -f '${path}'; mkdir -p '${path}'; >checked; echo '${busy}'`,
      );
      pass(25);
      const { code, stdout, stderr } = await cli(REAP);
      expect({ code, stdout, warnings: warningsOf(stderr) }).toEqual({
        code: 0,
        stdout: '[]\n',
        warnings: [
          'Could not check whether trainer is idle, so it counts as in use: Could not save its recorded use (EISDIR).',
        ],
      });
      expect(existsSync(ssh.path(PORT, 'home/checked'))).toBe(checks);
    },
  );

  test.each<[string, (path: string) => void]>([
    [
      "a killed process's mark",
      (path) => {
        const record = JSON.parse(readFileSync(path, 'utf8'));
        writeFileSync(path, JSON.stringify({ ...record, begun: true }));
      },
    ],
    ['no file', (path) => rmSync(path)],
    ['half a file', (path) => writeFileSync(path, readFileSync(path, 'utf8').slice(0, 100))],
    [
      'the file of another rule',
      (path) => {
        const record = JSON.parse(readFileSync(path, 'utf8'));
        writeFileSync(path, JSON.stringify({ ...record, rule: 'other' }));
      },
    ],
  ])('restarts the idle time with %s as evidence', async (_what, spoil) => {
    await rent(...RULE);
    expect(await passes(2)).toEqual([]);
    spoil(evidencePaths()[0] ?? '');
    expect(await passes(2)).toEqual([]);
    expect(await passes(1)).toEqual(['terminated']);
  });

  test('delays the termination by at most one reap if the evidence is one reap old', async () => {
    await rent(...RULE);
    expect(await passes(1)).toEqual([]);
    const [path = ''] = evidencePaths();
    const old = readFileSync(path, 'utf8');
    expect(await passes(1)).toEqual([]);
    writeFileSync(path, old);
    expect(await passes(1)).toEqual(['terminated']);
  });
});

describe('an idle rule', () => {
  test('shows an idle rule with the idle time in list, get, status and top', async () => {
    await rent(...RULE);
    expect(await listed(world)).toMatchObject([{ if_idle_seconds: 2700, idle_seconds: null }]);
    expect((await cli(['status'])).stdout).toContain('unknown');
    await passes(2);
    world.clock.advance(6 * MINUTE);
    expect(await listed(world)).toMatchObject([{ if_idle_seconds: 2700, idle_seconds: 1860 }]);
    const get = JSON.parse((await cli(['instances', 'get', 'trainer', '--json'])).stdout);
    expect(get).toMatchObject({ if_idle_seconds: 2700, idle_seconds: 1860 });
    expect((await cli(['instances', 'get', 'trainer'])).stdout).toMatch(/Idle: +31 min of 45 min/);
    expect((await cli(['instances', 'list'])).stdout).toContain('31 min of 45 min');
    const status = JSON.parse((await cli(['status', '--json'])).stdout);
    expect(status.instances).toMatchObject([{ if_idle_seconds: 2700, idle_seconds: 1860 }]);
    expect((await cli(['status'])).stdout).toContain('31 min of 45 min');
    const top = await cli(['instances', 'top', 'trainer', '--json']);
    expect(JSON.parse(top.stdout)).toMatchObject({ idle_seconds: 1860 });
  });
});
