import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NEW } from '../support/renting-service.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import { ODD } from './odd-name.ts';
import { exited, LASTS, started, withoutTimes } from './stories.ts';

let world: LoopbackWorld;
beforeEach(async () => {
  world = await createLoopbackWorld();
});
afterEach(() => world.close());

const jobs = (...words: string[]) => world.gpucloud(['jobs', ...words]);

describe('run --on', () => {
  test('exits with 5 while the job that rented the instance is open', async () => {
    const name = 'job-with-a-name-that-is-longer-than-an-id';
    await world.detach('true', '--name', name);
    await exited(world);
    const { code } = await world.runOn('echo ran');
    expect(code).toBe(5);
    // It does not keep a job from another instance.
    const other = NEW.replace(/.$/, '9');
    world.renting.rent(other, 'dev');
    await world.gpucloud(['instances', 'track', other]);
    const words = ['run', '--on', 'dev', '--identity', world.local('key'), '--', 'true'];
    await world.gpucloud(words);
    await world.gpucloud(words);
    expect(world.terminations()).toBe(0);
  });

  test('runs one job at a time, and leaves the earlier one open', async () => {
    world.renting.rent(NEW, ODD);
    await world.gpucloud(['instances', 'expire', NEW, '--after', '1h']);
    expect((await world.runOn(LASTS, '--detach')).code).toBe(0);
    await started(world);
    await world.runOn('echo ran');
    const { grace, ...record } = world.record();
    expect(record).toMatchObject({ ended_at: null, lost_at: null });
    expect(Math.round(grace / 60_000)).toBe(6);
  });

  test("finds the private key of an instance's SSH key without --identity", async () => {
    mkdirSync(world.local('.ssh'));
    for (const name of ['a', 'b']) {
      const file = world.local(`.ssh/${name}`);
      execFileSync('ssh-keygen', [
        '-q',
        '-t',
        'ed25519',
        '-N',
        name === 'a' ? 'locked' : '',
        '-f',
        file,
      ]);
    }
    const keys = ['a', 'b'].map((name) => ({
      id: `k-${name}`,
      public_key: readFileSync(world.local(`.ssh/${name}.pub`), 'utf8'),
    }));
    world.renting.rent(NEW, ODD, { ssh_keys: keys } as object);
    const run = (...flags: string[]) =>
      world.gpucloud(['run', '--on', NEW, ...flags, '--', 'sh', '-c', 'exit 3']);
    await run();
    expect(world.record().identity).toBe(world.local('.ssh/b'));
    // The next job reuses the stored identity.
    world.renting.rent(NEW, ODD, { ssh_keys: [] } as object);
    await run();
    expect(world.record().identity).toBe(world.local('.ssh/b'));
  });

  test.each([
    [false, { status: 'EXITED', exit_code: 4 }],
    [true, { status: 'LOST', exit_code: null }],
  ])('shows how a job ended that another one replaced (lost: %s)', async (isLost, ended) => {
    world.renting.rent(NEW, ODD);
    await world.runOn('exit 4', '--detach');
    await exited(world);
    if (isLost) rmSync(join(world.job, 'exit'));
    await world.runOn('exit 0');
    const { stdout } = await world.gpucloud(['jobs', 'list', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([{ status: 'EXITED', exit_code: 0 }, ended]);
  });

  test('says that a detached command has exited while its instance bills', async () => {
    world.renting.rent(NEW, ODD);
    await world.runOn('exit 4', '--detach');
    await exited(world);
    expect((await world.gpucloud(['jobs', 'list'])).stderr).toBe(
      `${ODD} still has the output of its job. It may be billing. To copy the output: gpucloud jobs attach ${NEW}\n`,
    );
  });

  test('skips a setup that has succeeded', async () => {
    world.renting.rent(NEW, ODD);
    const outcome = (said: string) => ({
      ...{ code: 0, stdout: 'ran\n' },
      stderr: `Connecting to ${ODD}\n${said}sh -c 'echo ran': exit code 0\n${ODD} keeps running and billing. To terminate it: gpucloud instances terminate ${NEW}\n`,
    });
    const run = async () => {
      const { code, stdout, stderr } = await world.runOn('echo ran', '--setup', 'echo set up >&2');
      return { code, stdout, stderr: withoutTimes(stderr) };
    };
    expect(await run()).toEqual(outcome("Running the setup, then sh -c 'echo ran'\nset up\n"));
    const note = `Skipped the setup: it has succeeded on ${ODD}. --setup-again repeats it.\n`;
    expect(await run()).toEqual(outcome(`${note}Running sh -c 'echo ran'\n`));
    await world.runOn('echo ran', '--setup', 'echo set up >&2', '--setup-again');
  });

  test('exits with 5 without connecting to a terminating instance', async () => {
    world.renting.rent(NEW, ODD, { status: 'TERMINATING' });
    await world.gpucloud(['instances', 'track', NEW]);
    const { code } = await world.runOn('echo ran');
    expect({ code, scripts: world.ssh.scripts }).toEqual({ code: 5, scripts: [] });
  });

  test('keeps the results on the instance if jobs attach cannot store them', async () => {
    world.renting.rent(NEW, ODD);
    const local = world.local('out');
    const flags = ['--detach', '--fetch', `out:${local}`];
    await world.runOn('mkdir out; exit 4', ...flags);
    await exited(world);
    writeFileSync(local, 'in the way');
    const { code, stderr } = await world.gpucloud(['jobs', 'attach', NEW]);
    const command = "sh -c 'mkdir out; exit 4'";
    expect({ code, stderr: withoutTimes(stderr) }).toEqual({
      code: 125,
      stderr: `Connecting to ${ODD}
Running ${command}
Fetching out
${command}: exit code 4
error: ${ODD}: Could not copy files out: ${local} is not a folder. The instance still has its results.
hint: follow it again: gpucloud jobs attach ${NEW}
`,
    });
    expect(world.record()).toMatchObject({ ended_at: null, exit_code: 4 });
    // Only this computer still knows the exit.
    rmSync(world.job, { recursive: true });
    await world.runOn('exit 0');
    const { stdout } = await world.gpucloud(['jobs', 'list', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([
      { exit_code: 0 },
      { status: 'EXITED', exit_code: 4 },
    ]);
  });

  test('says how to get the results of a stopped instance', async () => {
    world.renting.rent(NEW, ODD);
    await world.runOn(LASTS, '--detach');
    world.renting.rent(NEW, ODD, { status: 'STOPPED' });
    const { code, stderr } = await jobs('attach', NEW);
    expect(code).toBe(125);
    expect(stderr).toMatch(
      /error: my box: .* is STOPPED .*\. Its command no longer runs\.\nhint: reach the output \(this bills\): /,
    );
    await world.runOn('echo ran');
  });
});
