import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, test } from 'vitest';
import { writeHeartbeat } from '../../src/journal/index.ts';
import { withLock } from '../../src/system/lock.ts';
import { programAt } from '../support/needs.ts';
import { NEW } from '../support/renting-service.ts';
import { no } from '../support/service.ts';
import { until } from '../support/ssh-world.ts';
import { withoutTranscript } from '../support/transcript.ts';
import { pathWithout } from './job-world.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import { ctrlC, exited, followed, LASTS, reap, started } from './stories.ts';

let world: LoopbackWorld;
beforeEach(async () => {
  world = await createLoopbackWorld();
});

const stop = (...flags: string[]) => world.gpucloud(['jobs', 'stop', 'job', ...flags]);
const attach = (...flags: string[]) => world.gpucloud(['jobs', 'attach', 'job', ...flags]);
const list = async () => JSON.parse((await world.gpucloud(['jobs', 'list', '--json'])).stdout);
const isKept = () => until(() => existsSync(world.job) && world.record().kept !== null);
/** Changes fields of the stored job record. */
function store(change: object): void {
  const record = JSON.stringify({ ...world.record(), ...change });
  writeFileSync(world.jobFile('json'), record);
}
/** When the process that holds the job has refreshed its lock. */
const refreshedAt = ({ jobFile }: LoopbackWorld) => statSync(`${jobFile('json')}.lock`).mtimeMs;
/** The folders of results that could not be moved to their place. */
const staged = (folder: string) =>
  readdirSync(folder).filter((name) => name.startsWith('.gpucloud-'));
/** How often the files of a folder were sent. */
const copies = () => world.ssh.scripts.filter((script) => script.includes('exec tar -cf')).length;

describe('jobs stop of a kept job whose run stays', () => {
  test('ends the job, and its run reports that', async () => {
    const ran = world.run('exit 3', ['--keep-on-failure', '30m']);
    await isKept();
    const stopped = await stop();
    expect(stopped, stopped.stderr).toMatchObject({ code: 0 });
    const { code, stderr } = await ran;
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('gpucloud jobs stop job takes over.');
    expect(stderr).toMatch(/\nTerminated job after \d+ s\.\nIt cost at most 89\.90 ₽[.:].*\n$/);
    expect({ status: world.status(), sent: world.terminations() }).toEqual({
      status: 'TERMINATING',
      sent: 1,
    });
  });

  test('ends a job beside which jobs attach stays', async () => {
    await world.detach('touch log; exit 3', '--fetch', `missing:${world.local('x')}`);
    await exited(world);
    const attached = attach();
    await isKept();
    expect(await stop('--no-fetch')).toMatchObject({ code: 0 });
    const { code, stderr } = await attached;
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('gpucloud jobs stop job takes over.');
    expect(world.status()).toBe('TERMINATING');
  });

  test('ends a job that jobs attach follows only after jobs stop was called', async () => {
    withoutTranscript();
    await world.detach('exit 3', '--fetch', `missing:${world.local('x')}`);
    await exited(world);
    // The process that followed the job was killed a moment ago.
    const lock = `${world.jobFile('json')}.lock`;
    mkdirSync(lock);
    const stopped = stop('--no-fetch');
    await until(() => existsSync(world.jobFile('stop')));
    rmSync(lock, { recursive: true });
    await Promise.all([attach(), stopped]);
    expect(await stopped).toMatchObject({ code: 0 });
    expect(world.status()).toBe('TERMINATING');
  });

  test('makes its run exit with 7 if the instance may not end', async () => {
    world.renting.terminations = Array.from({ length: 50 }, () => () => no(409, 'Not now'));
    const ran = world.run('exit 3', ['--keep-on-failure', '30m']);
    await isKept();
    expect(await world.gpucloud(['jobs', 'stop', 'job'], { speed: 100 })).toMatchObject({
      code: 7,
    });
    world.advance(20_000);
    const { code, stderr } = await ran;
    expect(code, stderr).toBe(7);
    expect(stderr).toContain(
      'error: gpucloud jobs stop job took over, but has not terminated job. It may still be billing.\n' +
        'hint: finish the job: gpucloud jobs attach job; or terminate the instance: gpucloud instances terminate job\n',
    );
    expect(world.status()).toBe('ACTIVE');
  });

  test('leaves its run to Ctrl-C, which reports that the instance bills', async () => {
    const { interrupts, press } = ctrlC();
    let isHeld = true;
    world.renting.terminations = [
      async (id) => {
        await until(() => !isHeld);
        return world.renting.terminate(id);
      },
    ];
    const ran = world.run('exit 3', ['--keep-on-failure', '30m'], { interrupts });
    await isKept();
    const stopped = stop();
    await until(() => world.terminations() === 1);
    press();
    const { code, stderr } = await ran;
    expect(code, stderr).toBe(130);
    expect(stderr).toContain('Its command exited with 3, and the instance still bills.');
    isHeld = false;
    expect(await stopped).toMatchObject({ code: 0 });
  });
});

test('finishes in reap the job of a process that was killed seconds ago', async () => {
  await world.detach('exit 3');
  await exited(world);
  const lock = `${world.jobFile('json')}.lock`;
  mkdirSync(lock);
  // The lock expires after ten seconds.
  const refreshed = new Date(Date.now() - 9_500);
  utimesSync(lock, refreshed, refreshed);
  const { code, rows } = await reap(world);
  expect({ code, rows }).toMatchObject({
    code: 0,
    rows: [{ outcome: 'terminated', exit_code: 3 }],
  });
});

test('waits in reap for a run whose computer slept past the deadline and that copies its results', async () => {
  const out = world.local('out');
  const flags = ['--terminate-after', '10m', '--fetch', `out:${out}`];
  const ran = world.run(`mkdir out; echo x >out/a; ${LASTS}`, flags);
  await followed(world);
  const path = await pathWithout(world.there(NEW), ['tar']);
  const [copying, go] = [join(path, 'copying'), join(path, 'go')];
  // Ends by itself if the test fails.
  const wait = `for turn in $(seq 600); do [ ! -e ${go} ] || break; sleep 0.05; done`;
  const tar = `#!/bin/sh\ntouch ${copying}\n${wait}\nexec ${programAt('tar')} "$@"\n`;
  writeFileSync(join(path, 'tar'), tar, { mode: 0o755 });
  world.ssh.path = path;
  world.advance(60 * 60_000);
  await until(() => existsSync(copying));
  const reaped = reap(world);
  // The run shows that it lives.
  const refreshes = new Set<number>();
  await until(() => refreshes.add(refreshedAt(world)).size > 3);
  expect(world.terminations()).toBe(0);
  writeFileSync(go, '');
  const { code, stderr } = await ran;
  expect(code, stderr).toBe(125);
  expect(readFileSync(join(out, 'a'), 'utf8')).toBe('x\n');
  expect(await reaped).toMatchObject({ code: 0, rows: [] });
  expect(world.terminations()).toBe(1);
});

test.each([
  ['has exited', 'mkdir up; echo x >up/a; exit 3', exited, 3],
  ['still runs', `mkdir out; echo x >out/a; ${LASTS}`, started, 125],
])(
  'copies in jobs attach after the deadline if the command %s',
  async (_what, script, is, code) => {
    const got = world.local('got');
    await world.detach(script, '--fetch', `${code === 3 ? 'up' : 'out'}:${got}`);
    await is(world);
    world.advance(2 * 60 * 60_000);
    const attached = await attach();
    expect(attached, attached.stderr).toMatchObject({ code });
    expect(readFileSync(join(got, 'a'), 'utf8')).toBe('x\n');
    expect({ status: world.status(), sent: world.terminations() }).toEqual({
      status: 'TERMINATING',
      sent: 1,
    });
  },
);

test('waits in reap for a process that holds a job past its deadline until Ctrl-C', async () => {
  await world.detach('exit 3');
  await exited(world);
  world.advance(70 * 60_000);
  const { interrupts, press } = ctrlC();
  const outcome = await withLock(world.jobFile('json'), async () => {
    const { length } = world.service.requests;
    const reaped = world.gpucloud(['instances', 'reap'], { interrupts });
    await until(() => world.service.requests.length > length);
    // The process that holds the job shows that it lives.
    const refreshes = new Set<number>();
    await until(() => refreshes.add(refreshedAt(world)).size > 2);
    press();
    return reaped;
  });
  expect(outcome).toMatchObject({ code: 130, stderr: expect.stringMatching(/Interrupted\.\n$/) });
  expect(world.terminations()).toBe(0);
});

describe('a start that was stored but never arrived', () => {
  beforeEach(async () => {
    await world.detach(LASTS, '--fetch', `up:${world.local('up')}`);
    await started(world);
    await stop('--no-fetch');
    // As after kill -9 between the stored start and its request.
    rmSync(world.job, { recursive: true });
    world.renting.rent(NEW, 'job');
    const open = { ended_at: null, ending_at: null, exit_code: null, shown_at: null };
    store({ ...open, report: null, reason: null, output_kept_at: null });
    rmSync(world.jobFile('stop'), { force: true });
  });

  test('ends its instance at jobs attach, and never starts the command', async () => {
    expect(await list()).toMatchObject([{ status: 'RUNNING', exit_code: null }]);
    await attach();
    expect({ status: world.status(), isThere: existsSync(world.job) }).toEqual({
      status: 'TERMINATING',
      isThere: false,
    });
    expect(await list()).toMatchObject([{ status: 'EXITED', exit_code: null }]);
  });

  test('ends its instance at the next reap', async () => {
    const { code, rows } = await reap(world);
    expect({ code, rows }).toMatchObject({ code: 125, rows: [{ outcome: 'terminated' }] });
    expect(world.status()).toBe('TERMINATING');
  });
});

test('follows a command whose start was cut and then refused', async () => {
  let starts = 0;
  const { startPiped } = world.ssh;
  world.ssh.refuse = (script) => {
    if (!script.includes('script=$(cat)')) return undefined;
    starts += 1;
    return starts === 1 ? undefined : 'Host key verification failed.';
  };
  // The first start succeeds, but its response is lost.
  world.ssh.startPiped = async (...given) => {
    const running = await startPiped(...given);
    if (starts !== 1 || !(given[0].args.at(-1) ?? '').includes('script=$(cat)')) return running;
    const stdout = new PassThrough();
    const ended = until(() => existsSync(join(world.job, 'pid'))).then(() => {
      running.kill();
      stdout.end();
      return 255;
    });
    return { ...running, stdout, ended };
  };
  const { code, stderr } = await world.run('sleep 1; exit 3', []);
  expect({ code, starts }, stderr).toEqual({ code: 3, starts: 2 });
  expect(world.status()).toBe('TERMINATING');
});

test('keeps an instance whose job folder is gone, and says why', async () => {
  await world.detach('true', '--fetch', `out:${world.local('out')}`);
  await exited(world);
  rmSync(world.job, { recursive: true });
  await world.gpucloud(['instances', 'reap', '--every', '5m']);
  await attach();
  await stop();
  expect(world.status()).toBe('TERMINATING');
});

test.each([
  ['run', 'TERMINATING'],
  ['jobs attach', 'ACTIVE'],
])('says truly what Ctrl-C does to an instance that %s keeps', async (who, status) => {
  const { interrupts, press } = ctrlC();
  const flags = ['--fetch', `missing:${world.local('x')}`];
  if (who !== 'run') {
    await world.detach('true', ...flags);
    await exited(world);
  }
  const ended =
    who === 'run'
      ? world.run('true', flags, { interrupts })
      : world.gpucloud(['jobs', 'attach', 'job'], { interrupts });
  await isKept();
  press();
  await ended;
  expect(world.status()).toBe(status);
});

test('says that nothing ends an instance that a single run of reap keeps', async () => {
  await world.detach('true', '--fetch', `missing:${world.local('x')}`);
  await exited(world);
  const { code, stderr } = await world.gpucloud(['instances', 'reap']);
  expect({ code, status: world.status() }, stderr).toEqual({ code: 125, status: 'ACTIVE' });
});

describe('results that cannot be moved to their place', () => {
  const command = 'mkdir out; echo x >out/a; echo y >out/b';
  let out: string;
  beforeEach(() => {
    out = world.local('out');
    // A folder here, but a file on the instance.
    mkdirSync(join(out, 'a'), { recursive: true });
  });

  test('are received once while run stays, and placed once they can be', async () => {
    const ran = world.run(command, ['--fetch', `out:${out}`]);
    await isKept();
    const [folder = ''] = staged(out);
    world.advance(61_000);
    world.advance(61_000);
    expect({ copies: copies(), staged: staged(out) }).toEqual({ copies: 1, staged: [folder] });
    expect(readFileSync(join(out, 'b'), 'utf8')).toBe('y\n');
    rmSync(join(out, 'a'), { recursive: true });
    world.advance(61_000);
    const { code, stderr } = await ran;
    expect(code, stderr).toBe(0);
    expect({ copies: copies(), staged: staged(out) }).toEqual({ copies: 1, staged: [] });
    expect(readFileSync(join(out, 'a'), 'utf8')).toBe('x\n');
    expect(world.status()).toBe('TERMINATING');
  });

  test('are received once by several reaps', async () => {
    await world.detach(command, '--fetch', `out:${out}`);
    await exited(world);
    for (let pass = 0; pass < 3; pass += 1) {
      const reaped = await reap(world);
      expect(reaped, reaped.stderr).toMatchObject({ code: 125, rows: [{ outcome: 'refused' }] });
      expect({ copies: copies(), count: staged(out).length }).toEqual({ copies: 1, count: 1 });
    }
    rmSync(join(out, 'a'), { recursive: true });
    expect(await reap(world)).toMatchObject({ code: 0, rows: [{ outcome: 'terminated' }] });
    expect({ copies: copies(), staged: staged(out) }).toEqual({ copies: 1, staged: [] });
    expect(readFileSync(join(out, 'a'), 'utf8')).toBe('x\n');
  });

  test('are received again if somebody has removed them', async () => {
    await world.detach(command, '--fetch', `out:${out}`);
    await exited(world);
    await reap(world);
    for (const name of staged(out)) rmSync(join(out, name), { recursive: true });
    rmSync(join(out, 'a'), { recursive: true });
    expect(await reap(world)).toMatchObject({ code: 0, rows: [{ outcome: 'terminated' }] });
    expect({ copies: copies(), text: readFileSync(join(out, 'a'), 'utf8') }).toEqual({
      copies: 2,
      text: 'x\n',
    });
  });

  test('leave one folder of --fetch-every', async () => {
    withoutTranscript();
    const flags = ['--fetch', `out:${out}`, '--fetch-every', '1s', '--keep-on-failure', '0s'];
    const ran = world.run(`${command}; while [ ! -f go ]; do sleep 0.1; done`, flags);
    await until(() => copies() > 3);
    writeFileSync(join(world.job, 'work', 'go'), '');
    const { code, stderr } = await ran;
    expect(code, stderr).toBe(125);
    // One of the command, and one of its end.
    expect(staged(out).length).toBeLessThanOrEqual(2);
  });
});

test("terminates nothing if a folder replaces a job's record", async () => {
  await world.detach(LASTS);
  await started(world);
  const path = world.jobFile('json');
  rmSync(path);
  mkdirSync(path);
  await reap(world);
  expect(world.terminations()).toBe(0);
});

test('jobs list names the command that finishes a job, unless a schedule does', async () => {
  await world.detach('exit 3');
  await exited(world);
  const listed = () => world.gpucloud(['jobs', 'list']);
  expect((await listed()).stderr).toBe(
    'job still has the output of its job. It may be billing. To copy the output and terminate job: gpucloud jobs attach job\n',
  );
  const { service, account } = world.record();
  const at = new Date(world.clock.now()).toISOString();
  const schedule = { service, account, every: 300_000, at, features: ['job'] };
  await writeHeartbeat(dirname(dirname(world.jobFile('json'))), 'work', schedule);
  expect((await listed()).stderr).toBe('');
});

test('jobs list shows the phase of a command whose exit nothing has stored', async () => {
  await world.detach('exit 3', '--fetch', `x:${world.local('x')}`);
  await exited(world);
  expect(await list()).toMatchObject([{ status: 'EXITED', exit_code: 3, phase: 'fetching' }]);
});

test('jobs stop keeps the instance of a success whose --fetch path is wrong', async () => {
  await world.detach('true', '--fetch', `wrong:${world.local('x')}`);
  await exited(world);
  await stop();
  expect(world.terminations()).toBe(0);
  expect((await world.gpucloud(['jobs', 'list'])).stderr).toBe(
    'job: Could not copy files out: wrong does not exist on the instance. It may be billing. To copy another path: gpucloud jobs attach job --fetch PATH\n',
  );
  await stop('--no-fetch');
  expect(world.terminations()).toBe(1);
  const { stdout, stderr } = await world.gpucloud(['jobs', 'list', '--columns', 'phase']);
  expect({ stdout, stderr }).toEqual({ stdout: 'PHASE\ndone\n', stderr: '' });
});

test('jobs list marks a job whose instance ended before its results were copied', async () => {
  await world.detach('true', '--fetch', `wrong:${world.local('x')}`);
  await exited(world);
  await stop();
  world.renting.rent(NEW, 'job', { status: 'TERMINATED' });
  await stop();
  const { stdout, stderr } = await world.gpucloud(['jobs', 'list', '--columns', 'phase']);
  expect(stdout).toBe('PHASE\nfetching\n');
  expect(stderr).toBe('The results of job were not copied. To see why: gpucloud jobs get job\n');
});

const WAITS = 'touch ../up; while :; do sleep 0.1; done';
test.each([
  ['has written something', `trap 'echo 1 > best.pt; exit 1' INT; ${WAITS}`, [], 125, 0],
  ['has written nothing', WAITS, [], 125, 1],
  ['has written nothing, and succeeds', `trap 'exit 0' INT; ${WAITS}`, [], 125, 1],
  ['has written something, with --no-fetch', `echo 1 > best.pt; ${WAITS}`, ['--no-fetch'], 0, 1],
])(
  'jobs stop of a command with a wrong path that %s',
  async (_what, command, flags, code, ends) => {
    await world.detach(command, '--fetch', `sub/wr~ng:${world.local('wrong')}`);
    await until(() => existsSync(join(world.job, 'up')));
    const stopped = await stop(...flags);
    expect({ code: stopped.code, ends: world.terminations() }).toEqual({ code, ends });
    if (ends === 1) return;
    expect(stopped.stderr).toContain('The instance still has the results');
    expect(stopped.stderr).toContain('give the results up: gpucloud jobs stop job --no-fetch');
  },
);

test('jobs attach --fetch replaces a wrong path, and keeps what is copied', async () => {
  const [good, wrong, right] = ['good', 'wrong', 'right'].map((name) => world.local(name));
  const words = ['--fetch', `good:${good}`, '--fetch', `wrong:${wrong}`];
  await world.detach('echo 1 > good; echo 2 > right', ...words);
  await exited(world);
  await stop();
  // Checked before anything changes.
  await attach('--fetch', '..');
  await attach('--fetch', `right:${right}`);
  expect(world.terminations()).toBe(1);
  expect([good, right].map((path = '') => readFileSync(path, 'utf8'))).toEqual(['1\n', '2\n']);
  expect(await list()).toMatchObject([{ phase: 'done', fetched: [good, right] }]);
});

test('reap finds the instance of a run that was killed while it rented', async () => {
  await world.detach('exit 3');
  await exited(world);
  store({ id: null });
  expect((await reap(world)).rows).toMatchObject([{ id: NEW, outcome: 'terminated' }]);
});

test('jobs list counts no time after the instance was terminated', async () => {
  await world.detach('exit 3');
  await exited(world);
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  store({ started_at: ago(3) });
  world.renting.rent(NEW, 'job', { status: 'TERMINATED', terminated_at: ago(1) });
  const [{ status, seconds }] = await list();
  expect(status).toBe('TERMINATED');
  expect(Math.abs(seconds - 7_200)).toBeLessThan(600);
});
