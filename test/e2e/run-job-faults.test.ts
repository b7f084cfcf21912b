import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createJobWorld, type JobWorld } from '../run-job/job-world.ts';
import { needs } from '../support/needs.ts';
import { heard } from '../support/program.ts';
import { NEW } from '../support/renting-service.ts';
import { no } from '../support/service.ts';
import { until } from '../support/ssh-world.ts';

const OLD = '3f0c5d9e-1111-4222-8333-444455550000';

let world: JobWorld;

function start(more: readonly string[], command: readonly string[]) {
  const child = world.computer.start([...world.words(...more), '--', ...command], {
    env: world.env,
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, ended };
}

describe('gpucloud run after a fault', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
  });
  afterEach(() => world.close());

  test('exits with 7 after two Ctrl-C during the request, and ignores an instance with the same name', async () => {
    world.renting.newId = () => OLD;
    expect(await world.run([], ['true'])).toMatchObject({ code: 0 });
    world.renting.newId = () => NEW;
    world.renting.posts = [() => new Promise(() => undefined)];
    const { child, ended } = start(['--report', 'report.json'], ['true']);
    await until(() => world.rentals() === 2);
    const warned = heard(child, 'stderr', /Waiting for the response/);
    child.kill('SIGINT');
    await warned;
    child.kill('SIGINT');
    expect(await ended).toBe(7);
    expect(await report()).toMatchObject({
      stage: 'renting',
      terminated: 'unknown',
      exit_code: 7,
      instance: { id: null, name: 'job' },
    });
  });

  test('exits with 7 if a refusal contains an instance ID, and does not terminate that instance', async () => {
    world.renting.rent(OLD, 'other');
    world.renting.posts = [
      () => ({ status: 409, body: { error: { message: 'taken' }, data: { id: OLD } } }),
    ];
    const { code } = await world.run([], ['true']);
    expect({ code, status: world.renting.instances.get(OLD)?.status }).toEqual({
      code: 7,
      status: 'ACTIVE',
    });
  });

  test('does not claim that an instance bills after terminating it on Ctrl-C', async () => {
    const { renting } = world;
    const rent = renting.rent.bind(renting);
    renting.rent = (id, name) => rent(id, name, { status: 'PROVISIONING' });
    const { child, ended } = start([], ['true']);
    const all = heard(child, 'stderr', /Interrupted/);
    await heard(child, 'stderr', /Starting job/);
    child.kill('SIGINT');
    expect(await all).not.toContain('may still be billing');
    expect({ code: await ended, status: world.status() }).toEqual({
      code: 130,
      status: 'TERMINATING',
    });
  });

  test('writes a report if nothing was rented', async () => {
    world.renting.posts = [() => no(403, 'Forbidden')];
    const { code } = await world.run(['--report', 'report.json'], ['true']);
    expect(code).toBe(4);
    expect(await report()).toMatchObject({ stage: 'renting', instance: null, exit_code: 4 });
  });

  test('terminates with the key that it started with, whatever profile is active by then', async () => {
    const { computer, service } = world;
    const keyFile = join(computer.home, 'key');
    await writeFile(keyFile, world.env.GPUCLOUD_API_KEY ?? '', { mode: 0o600 });
    const login = ['login', '--profile', 'one', '--base-url', service.url];
    expect(await computer.gpucloud([...login, '--key-file', keyFile])).toMatchObject({ code: 0 });
    const child = computer.start([...world.words(), '--', 'sh', '-c', 'echo up; sleep 3']);
    const ended = once(child, 'close');
    await heard(child, 'stdout', /up/);
    const other = ['profiles', 'add', 'two', '--base-url', 'http://127.0.0.1:9'];
    expect(await computer.gpucloud(other)).toMatchObject({ code: 0 });
    expect(await computer.gpucloud(['profiles', 'use', 'two'])).toMatchObject({ code: 0 });
    expect((await ended)[0]).toBe(0);
    expect(world.status()).toBe('TERMINATING');
  });

  test('detects that somebody else terminated the instance', async () => {
    const { child, ended } = start([], ['sh', '-c', 'echo up; sleep 60']);
    await heard(child, 'stdout', /up/);
    world.renting.terminate(NEW);
    let said = '';
    child.stderr.on('data', (text) => {
      said += text;
    });
    world.cutLinks();
    expect(await ended).toBe(125);
    expect(said).toMatch(
      /\nTerminating job\njob is already TERMINATING.\nTerminated job after \d+ s. .*\nerror: job is TERMINATING, and its command has ended with it.\n$/,
    );
    expect(said).not.toContain('may still be billing');
  });

  test('finishes even if it can no longer write to the state folder', async () => {
    const { child, ended } = start([], ['sh', '-c', 'echo up; sleep 3; echo more']);
    await heard(child, 'stdout', /up/);
    const jobs = join(world.computer.home, 'state', 'jobs');
    const { rename } = await import('node:fs/promises');
    await rename(jobs, `${jobs}-gone`);
    await writeFile(jobs, 'in the way');
    const all = heard(child, 'stdout', /more/);
    expect(await all).toContain('more');
    expect(await ended).toBe(0);
  });

  test('prints every byte once if it is resumed a second after its last output', async () => {
    const { child, ended } = start([], ['sh', '-c', 'echo up; sleep 4; echo more']);
    await heard(child, 'stdout', /up/);
    await new Promise((resolve) => setTimeout(resolve, 1_800));
    child.kill('SIGKILL');
    await ended;
    expect(await attached()).toMatchObject({ code: 0, stdout: 'more\n' });
  }, 60_000);

  test('refuses to follow a job that another process follows', async () => {
    const { child, ended } = start([], ['sh', '-c', 'echo up; sleep 45']);
    await heard(child, 'stdout', /up/);
    const second = await attached();
    expect(second).toMatchObject({ code: 5, stdout: '' });
    expect(second.stderr).toContain('Another gpucloud process follows');
    expect(world.status()).toBe('ACTIVE');
    child.kill('SIGTERM');
    expect(await ended).toBe(143);
  }, 90_000);

  test("leaves a job running that jobs attach can't reach, and exits with 7", async () => {
    await world.run(['--detach', '--unenforced'], ['sh', '-c', 'sleep 1; echo done']);
    await world.sshd.stop();
    const away = await attached('--wait-timeout', '2s');
    expect({ code: away.code, status: world.status() }).toEqual({ code: 7, status: 'ACTIVE' });
    expect(away.stderr).toContain('Could not connect to job');
  });

  test('needs an armed reap or --unenforced to detach', async () => {
    const refused = await world.run(['--detach'], ['true']);
    expect({ code: refused.code, rentals: world.rentals() }).toEqual({ code: 2, rentals: 0 });
    const started = await world.run(['--detach', '--unenforced', '--json'], ['true']);
    expect(JSON.parse(started.stdout)).toEqual({ id: NEW, name: 'job' });
    expect(started.stderr).toContain('may_be_billing');
  });

  test('ends at a deadline that expire set during the run', async () => {
    const { child, ended } = start(['--grace', '0s'], ['sh', '-c', 'echo up; sleep 60']);
    await heard(child, 'stdout', /up/);
    const moved = await world.computer.gpucloud(['instances', 'expire', 'job', '--after', '2s'], {
      env: world.env,
    });
    expect(moved).toMatchObject({ code: 0 });
    expect(await ended).toBe(125);
    expect(world.status()).toBe('TERMINATING');
  });

  test('skips excluded files below a listed folder, and matches patterns with case', async () => {
    const source = join(world.computer.home, 'project');
    await mkdir(join(source, 'sub', 'Build'), { recursive: true });
    await mkdir(join(source, 'sub', 'build'));
    await mkdir(join(source, 'empty'));
    for (const name of ['sub/keep', 'sub/secret.bin', 'sub/Build/a', 'sub/build/b', '-n\nx']) {
      await writeFile(join(source, name), name);
    }
    await symlink('keep', join(source, 'sub', 'link'));
    await writeFile(join(source, '.gpucloudignore'), '*.bin\nbuild/\n');
    const { code, stdout } = await world.run(
      ['--sync', source],
      ['sh', '-c', "find . -mindepth 1 -print0 | LC_ALL=C sort -z | tr '\\0' ','"],
    );
    expect(code).toBe(0);
    expect(stdout).toBe(
      './-n\nx,./.gpucloudignore,./empty,./sub,./sub/Build,./sub/Build/a,./sub/keep,./sub/link,',
    );
  });

  test('copies both ways although the login shell of the instance prints a greeting', async () => {
    const source = join(world.computer.home, 'project');
    await mkdir(source);
    await writeFile(join(source, 'in.txt'), 'x');
    await writeFile(join(world.there, '.greeting'), 'Welcome!\n');
    const script = 'ls; mkdir results; cp in.txt results/out.txt';
    const done = await world.run(['--sync', source, '--fetch', 'results'], ['sh', '-c', script]);
    expect(done).toMatchObject({ code: 0, stdout: 'in.txt\n' });
    expect(await readFile(join(world.computer.home, 'results', 'out.txt'), 'utf8')).toBe('x');
  });

  test('warns about a file that vanished before it was copied', async () => {
    const source = join(world.computer.home, 'project');
    await mkdir(source);
    await writeFile(join(source, 'stays'), 'x');
    await writeFile(join(source, 'gone'), 'x');
    // rsync as the user's: it starts once the file is gone.
    const bin = join(world.computer.home, 'bin');
    await mkdir(bin);
    await writeFile(
      join(bin, 'rsync'),
      `#!/bin/sh\n[ "$1" = --version ] || rm -f '${join(source, 'gone')}'\nPATH='${process.env.PATH}' exec rsync "$@"\n`,
      { mode: 0o755 },
    );
    const env = { ...world.env, PATH: `${bin}:${process.env.PATH}` };
    const done = await world.computer.gpucloud([...world.words('--sync', source), '--', 'ls'], {
      env,
    });
    expect(done).toMatchObject({ code: 0, stdout: 'stays\n' });
    expect(done.stderr).toContain('vanished');
  });
});

async function report(): Promise<unknown> {
  return JSON.parse(await readFile(join(world.computer.home, 'report.json'), 'utf8'));
}

function attached(...more: string[]) {
  expect(existsSync(world.computer.home)).toBe(true);
  return world.computer.gpucloud(['jobs', 'attach', 'job', ...world.signIn, ...more], {
    env: world.env,
  });
}
