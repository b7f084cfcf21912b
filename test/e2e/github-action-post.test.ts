import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { type CiRunner, createCiRunner, killed, LASTS } from '../jobs/ci-runner.ts';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { heard } from '../support/program.ts';
import { NEW, nameIn } from '../support/renting-service.ts';
import { no, ok } from '../support/service.ts';
import { taken } from '../support/signals.ts';
import { until } from '../support/ssh-world.ts';

let world: JobWorld;
let runner: CiRunner;

/** Shortens the pauses of the post step. */
const FAST = `
  const timers = require('node:timers/promises');
  const wait = timers.setTimeout;
  timers.setTimeout = (time, ...given) => wait(time / 50, ...given);
  require('node:module').syncBuiltinESMExports();
`;
/** Also shortens gpucloud's pauses and time limits, for a service that refuses each connection. */
const FASTER = `${FAST}
  const later = globalThis.setTimeout;
  globalThis.setTimeout = (work, time, ...given) => later(work, time / 20, ...given);
`;

async function loading(script: string): Promise<{ NODE_OPTIONS: string }> {
  const file = join(world.computer.home, 'fast.cjs');
  await writeFile(file, script);
  return { NODE_OPTIONS: `--require ${file}` };
}

describe('the GitHub Action at the end of a job', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
    runner = await createCiRunner(world);
  });

  test('terminates the instance when the job is cancelled', async () => {
    const main = runner.startMain({ command: LASTS });
    await heard(main, 'stdout', /up/);
    const closed = new Promise((resolve) => main.once('close', resolve));
    main.kill('SIGINT');
    expect(await closed).toBe(143);
    expect(world.status()).toBe('TERMINATING');
    expect(await runner.state()).toMatchObject({ ended: 'true' });
  });

  test('waits for the response to a request if the job is cancelled', async () => {
    let respond: (() => void) | undefined;
    world.renting.posts = [
      async ({ body }) => {
        await new Promise<void>((resolve) => {
          respond = resolve;
        });
        return ok(world.renting.rent(NEW, nameIn(body)), 201);
      },
    ];
    const main = runner.startMain({ command: LASTS });
    await until(() => respond !== undefined);
    const closed = new Promise((resolve) => main.once('close', resolve));
    // GitHub's runner sends SIGINT, SIGTERM after 7.5 s, and SIGKILL after 10 s.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      main.kill(signal);
      await taken(main.pid ?? 0, signal);
    }
    respond?.();
    expect(await closed).toBe(143);
    expect(world.status()).toBe('TERMINATING');
    expect(await runner.state()).toMatchObject({ ended: 'true' });
  });

  test('terminates the instance in the post step if the runner killed main during the termination', async () => {
    world.renting.terminations = [() => new Promise(() => undefined)];
    const main = runner.startMain({ command: LASTS });
    await heard(main, 'stdout', /up/);
    main.kill('SIGINT');
    await until(() => world.service.requests.some(({ path }) => path.endsWith('/terminate')));
    main.kill('SIGTERM');
    await sleep(1_000);
    expect(main.exitCode).toBe(null);
    await killed(main);
    expect(world.status()).toBe('ACTIVE');
    expect((await runner.post()).code).toBe(0);
    expect(world.status()).toBe('TERMINATING');
  });

  test('terminates the instance of a killed main in the post step, even if refused at first', async () => {
    const main = runner.startMain({ name: 'nightly', command: LASTS });
    await heard(main, 'stdout', /up/);
    await killed(main);
    expect(world.status()).toBe('ACTIVE');
    const { name } = await runner.state();
    expect(name).toMatch(/^nightly-[0-9a-f]{8}$/);
    world.renting.terminations = [() => no(403, 'Forbidden')];
    const { code, stdout } = await runner.post();
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/Trying again in 1 s\.\n[\s\S]*^Terminated /m),
    });
    expect(stdout).toContain(`Terminated ${name}.\n`);
    expect(world.status()).toBe('TERMINATING');
  });

  test('finds the instance in the post step if the response was lost', async () => {
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

  test('fails the post step if the instance may still be billing', async () => {
    world.renting.posts = [() => 'hangUp'];
    expect((await runner.main({ command: 'true' })).code).toBe(7);
    const { name } = await runner.state();
    const { code, stdout, obeyed } = await runner.post(await loading(FAST));
    expect(code).toBe(1);
    expect(stdout).toContain(`Outcome still unknown: ${name}`);
    expect(obeyed).toEqual([
      {
        name: 'error',
        properties: { title: 'gpucloud' },
        data: expect.stringMatching(new RegExp(`^${name} may still be billing`)),
      },
    ]);
  });

  test('prints the instance ID in the post step if the network is down', async () => {
    const main = runner.startMain({ command: LASTS });
    await heard(main, 'stdout', /up/);
    await killed(main);
    await world.service.close();
    const { code, obeyed } = await runner.post(await loading(FASTER));
    expect(code).toBe(1);
    const { name } = await runner.state();
    expect(obeyed.map(({ data }) => data)).toEqual([
      expect.stringContaining(`${name} (${NEW}) may still be billing`),
    ]);
    // A cancelled job gets five minutes, so each request gets 15 s instead of a minute.
    const [, ...lines] = (await runner.commandLines()).trim().split('\n');
    expect(lines.filter((line) => !line.endsWith(' --timeout 15s'))).toEqual([]);
    expect(lines.length).toBeGreaterThan(3);
  });

  test("uses main's service, profile and journal in the post step, whatever a later step sets", async () => {
    const later = { GPUCLOUD_PROFILE: 'sandbox', HOME: '/nowhere', XDG_STATE_HOME: '/nowhere' };
    const state = { GPUCLOUD_STATE_DIR: '', XDG_STATE_HOME: join(world.computer.home, 'xdg') };
    const main = runner.startMain({ command: LASTS }, state);
    await heard(main, 'stdout', /up/);
    await killed(main);
    // The folder is the one that gpucloud selects.
    expect(existsSync(join(state.XDG_STATE_HOME, 'gpucloud', 'journal'))).toBe(true);
    expect(await runner.post({ GPUCLOUD_STATE_DIR: '', ...later })).toMatchObject({ code: 0 });
    expect(world.status()).toBe('TERMINATING');
    expect(await readdir(join(state.XDG_STATE_HOME, 'gpucloud', 'journal'))).not.toContainEqual(
      expect.stringMatching(/github-action/),
    );
  });

  test('fails the post step if a later step sets the key of another account', async () => {
    const main = runner.startMain({ command: LASTS });
    await heard(main, 'stdout', /up/);
    await killed(main);
    world.renting.me = 'another-account';
    const later = { GPUCLOUD_API_KEY: 'svc_sk_test_another' };
    const list = await world.computer.gpucloud(['instances', 'list', '--json'], {
      env: { ...world.env, ...later },
    });
    expect(list).toMatchObject({ code: 0, stdout: '[]\n' });
    const { code, stdout, obeyed } = await runner.post({ ...later, ...(await loading(FAST)) });
    const { name } = await runner.state();
    expect([code, obeyed.map(({ data }) => data)]).toEqual([
      1,
      [expect.stringMatching(new RegExp(`^${name} may still be billing`))],
    ]);
    expect(stdout).not.toContain('Nothing was rented.');
    expect(world.status()).toBe('ACTIVE');
  });

  test('fails the post step if the journal was emptied, deleted or replaced', async () => {
    const main = runner.startMain({ command: LASTS });
    await heard(main, 'stdout', /up/);
    await killed(main);
    const state = join(world.computer.home, 'state');
    const { name } = await runner.state();
    for (const change of [
      () => rm(join(state, 'journal'), { recursive: true }),
      () => rm(state, { recursive: true }),
      () => mkdir(state, { recursive: true, mode: 0o700 }),
    ]) {
      await change();
      const { code, obeyed } = await runner.post();
      expect([code, obeyed]).toEqual([
        1,
        [
          {
            name: 'error',
            properties: { title: 'gpucloud' },
            data: `${name} may still be billing: the journal in ${state} was deleted or replaced. Look for it in the service's web console and terminate it there.`,
          },
        ],
      ]);
    }
    expect(world.status()).toBe('ACTIVE');
  });

  test('rents nothing if the folder of the journal cannot be written', async () => {
    const file = join(world.computer.home, 'file');
    await writeFile(file, '');
    const env = { GPUCLOUD_STATE_DIR: join(file, 'state') };
    const { code, obeyed } = await runner.main({ command: 'true' }, env);
    expect([code, obeyed.map(({ data }) => data)]).toEqual([
      1,
      [
        expect.stringMatching(
          /^The folder of the journal can't be written, so nothing was rented: /,
        ),
      ],
    ]);
    expect(world.rentals()).toBe(0);
    expect((await runner.post()).code).toBe(0);
  });

  test('passes the post step if nothing was rented', async () => {
    world.renting.posts = [() => no(403, 'Forbidden')];
    expect((await runner.main({ command: 'true' })).code).toBe(4);
    expect(await runner.outputs()).toMatchObject({ 'exit-code': '4', 'instance-id': '' });
    expect(await runner.post()).toMatchObject({
      code: 0,
      stdout: 'Nothing is left to terminate.\n',
    });
    expect((await runner.main({ command: 'true', 'ssh-key': 'other' })).code).toBe(3);
    expect(await runner.post()).toMatchObject({ code: 0, stdout: 'Nothing was rented.\n' });
    // Without a key, gpucloud can't look for an instance.
    const keyless = { GPUCLOUD_API_KEY: '' };
    expect((await runner.main({ command: 'true', 'terminate-after': '' })).code).toBe(2);
    expect(await runner.post(keyless)).toMatchObject({ code: 0 });
    expect(world.rentals()).toBe(1);
    // The state is empty if main never ran.
    const empty = { STATE_name: '', STATE_ended: '', STATE_settings: '' };
    expect(await runner.post(empty)).toMatchObject({ code: 0 });
  });
});
