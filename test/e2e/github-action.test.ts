import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CiRunner, createCiRunner } from '../run-job/ci-runner.ts';
import { createJobWorld, type JobWorld } from '../run-job/job-world.ts';
import { needs } from '../support/needs.ts';
import { heard } from '../support/program.ts';
import { NEW, nameIn } from '../support/renting-service.ts';
import { no } from '../support/service.ts';
import { until } from '../support/ssh-world.ts';

let world: JobWorld;
let runner: CiRunner;

/** Kills main and all that it started, as a runner does about ten seconds after a job is cancelled. */
async function killed(main: ReturnType<CiRunner['startMain']>): Promise<void> {
  const closed = new Promise((resolve) => main.once('close', resolve));
  process.kill(-(main.pid ?? 0), 'SIGKILL');
  await closed;
}

const LASTS = 'echo up; sleep 60';

describe('the GitHub Action', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
    runner = await createCiRunner(world);
  });
  afterEach(() => world.close());

  test('runs the command, fetches, writes outputs and leaves nothing to terminate', async () => {
    const command = 'echo one >one\necho two >two\necho done\nexit 3\n';
    const { code, stdout } = await runner.main({ command, fetch: 'one\ntwo:second' });
    expect({ code, stdout }).toEqual({ code: 3, stdout: 'done\n' });
    expect(await readFile(join(world.computer.home, 'second'), 'utf8')).toBe('two\n');
    expect(await runner.outputs()).toEqual({
      name: expect.stringMatching(/^ci-4711-[0-9a-f]{8}$/),
      'instance-id': NEW,
      'exit-code': '3',
      cost: '89.90',
    });
    expect(world.status()).toBe('TERMINATING');
    const sent = world.service.requests.length;
    expect(await runner.post()).toMatchObject({
      code: 0,
      stdout: 'Nothing is left to terminate.\n',
    });
    expect(world.service.requests.length).toBe(sent);
  });

  test('stops at the first failing line', async () => {
    const { code, stdout } = await runner.main({ command: 'false\necho on' });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });

  test('terminates at once when the job is cancelled', async () => {
    const main = runner.startMain({ command: LASTS });
    await heard(main, 'stdout', /up/);
    const closed = new Promise((resolve) => main.once('close', resolve));
    main.kill('SIGINT');
    expect(await closed).toBe(143);
    expect(world.status()).toBe('TERMINATING');
    expect(await runner.state()).toMatchObject({ ended: 'true' });
  });

  test('terminates in post what a killed main rented', async () => {
    const main = runner.startMain({ name: 'nightly', command: LASTS });
    await heard(main, 'stdout', /up/);
    await killed(main);
    expect(world.status()).toBe('ACTIVE');
    const { name } = await runner.state();
    expect(name).toMatch(/^nightly-[0-9a-f]{8}$/);
    expect(await runner.post()).toMatchObject({ code: 0, stdout: `Terminated ${name}.\n` });
    expect(world.status()).toBe('TERMINATING');
  });

  test('finds in post the instance of a request whose response main never saw', async () => {
    let isRented = false;
    world.renting.posts = [
      ({ body }) => {
        world.renting.rent(NEW, nameIn(body));
        world.renting.drives = [{ id: 'drive-1', current_instance_id: NEW }];
        isRented = true;
        return new Promise(() => undefined);
      },
    ];
    const main = runner.startMain({ command: LASTS });
    await until(() => isRented);
    await killed(main);
    expect(await runner.post()).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Terminated/m),
    });
    expect(world.status()).toBe('TERMINATING');
    expect(world.rentals()).toBe(1);
  });

  test('fails post if the instance may still be billing', async () => {
    world.renting.posts = [() => 'hangUp'];
    expect((await runner.main({ command: 'true' })).code).toBe(7);
    const { name } = await runner.state();
    const { code, stdout } = await runner.post();
    expect(code).toBe(1);
    expect(stdout).toContain(`::error title=gpucloud::${name} may still be billing`);
    expect(stdout).toContain(`Still unknown: ${name}`);
    expect(stdout).toMatch(new RegExp(`^${name}.*UNKNOWN`, 'm'));
  });

  test('tries again in post if the service refuses to terminate', async () => {
    const main = runner.startMain({ command: LASTS });
    await heard(main, 'stdout', /up/);
    await killed(main);
    world.renting.terminations = [() => no(403, 'Forbidden')];
    expect(await runner.post()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Trying again in 1 s.'),
    });
    expect(world.status()).toBe('TERMINATING');
  });

  test('does not fail post if nothing was rented', async () => {
    world.renting.posts = [() => no(400, 'Offer is not available')];
    expect((await runner.main({ command: 'true' })).code).toBe(1);
    expect(await runner.post()).toMatchObject({ code: 0, stdout: 'Nothing was rented.\n' });
    // Without a key, gpucloud could not look.
    const keyless = { GPUCLOUD_API_KEY: '' };
    expect((await runner.main({ command: 'true', 'terminate-after': '' })).code).toBe(2);
    expect(await runner.post(keyless)).toMatchObject({ code: 0 });
    expect(world.rentals()).toBe(1);
  });

  test('says what to do if gpucloud is not installed', async () => {
    const { code, stdout } = await runner.main({ command: 'true', program: '/nowhere/gpucloud' });
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(/^::error title=gpucloud::gpucloud was not found\. Install it/),
    });
    expect((await runner.post({ INPUT_PROGRAM: '/nowhere/gpucloud' })).code).toBe(0);
  });
});
