import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { NEW } from '../support/renting-service.ts';
import { no } from '../support/service.ts';
import { until } from '../support/ssh-world.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import { ctrlC, exited, followed, LASTS } from './stories.ts';

const OLD = '3f0c5d9e-1111-4222-8333-444455550000';

let world: LoopbackWorld;
beforeEach(async () => {
  world = await createLoopbackWorld();
});

/** Runs a command with all pauses divided by 100. */
const job = (command: string, ...flags: string[]) => world.run(command, flags, { speed: 100 });
const sent = () => world.terminations();
const report = () => JSON.parse(readFileSync(world.local('report.json'), 'utf8'));
const reporting = () => ['--report', world.local('report.json')];

describe('the termination after gpucloud run', () => {
  test("exits with the command's code if the response is lost but the instance terminates", async () => {
    world.renting.terminations = [
      (id) => {
        world.renting.terminate(id);
        return 'hangUp';
      },
    ];
    await job('exit 3');
    expect({ sent: sent(), status: world.status() }).toEqual({ sent: 1, status: 'TERMINATING' });
  });

  test('exits with 7 and prints the ID if the instance stays ACTIVE after lost responses', async () => {
    world.renting.terminations = Array.from({ length: 50 }, () => () => 'hangUp' as const);
    const { code, stderr } = await job('true');
    expect({ code, status: world.status() }).toEqual({ code: 7, status: 'ACTIVE' });
    expect(stderr).toContain(NEW);
  });

  test("keeps the old deadline if --keep-on-failure can't store the new one", async () => {
    const { interrupts, press } = ctrlC();
    const command = 'touch up; until [ -e go ]; do sleep 0.1; done; exit 5';
    const ended = world.run(command, ['--keep-on-failure', '30m'], { interrupts });
    await followed(world);
    const state = world.local('state');
    const deadlines = readdirSync(state, { recursive: true })
      .map(String)
      .filter((path) => path.endsWith('/deadlines'));
    expect(deadlines).toHaveLength(1);
    for (const path of deadlines) {
      rmSync(join(state, path), { recursive: true });
      writeFileSync(join(state, path), 'in the way');
    }
    writeFileSync(join(world.job, 'work', 'go'), '');
    await until(() => world.record().kept === 'command');
    expect(world.status()).toBe('ACTIVE');
    press();
    const { code } = await ended;
    expect({ code, status: world.status() }).toEqual({ code: 5, status: 'TERMINATING' });
  });

  test('exits with 125 and reports the cost of an instance over --max-price', async () => {
    const { code } = await job('true', '--max-price', '1', ...reporting());
    expect(code).toBe(125);
    expect(report()).toMatchObject({
      command_exit_code: null,
      instance: { id: NEW, name: 'job' },
      terminated: true,
      cost_at_most: '89.90',
      exit_code: 125,
    });
    expect(world.status()).toBe('TERMINATING');
  });

  test('exits with 7 and reports the ID if an instance over --max-price is never terminated', async () => {
    world.renting.terminations = Array.from({ length: 50 }, () => () => no(403, 'Forbidden'));
    const { code, stderr } = await job('true', '--max-price', '1', ...reporting());
    expect(code).toBe(7);
    const error = `job (${NEW}) costs 89.90 ₽ per hour, over --max-price 1.00. Could not terminate job (${NEW}): The service does not permit this request with the API key (403): Forbidden. It may still be billing.`;
    expect(stderr.split('\n').slice(-3)).toEqual([
      `error: ${error}`,
      'hint: gpucloud instances terminate job',
      '',
    ]);
    expect(report()).toEqual({
      instance: { id: NEW, name: 'job' },
      command_exit_code: null,
      exit_code: 7,
      error,
      stage: 'renting',
      terminated: 'unknown',
      fetched: [],
      seconds: expect.any(Number),
      cost: null,
      cost_at_most: null,
      phases: null,
      gpu: null,
    });
  });

  test('exits with 5 for a name in use and for attaching an ended job', async () => {
    await world.detach('true');
    const second = await job('true');
    expect(second).toMatchObject({ code: 5 });
    await exited(world);
    await world.gpucloud(['jobs', 'attach', 'job']);
    expect(await world.gpucloud(['jobs', 'attach', 'job'])).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/^error: The job on job ended .*jobs logs job\n$/s),
    });
  });
});

describe('gpucloud run without an instance', () => {
  test('exits with 7 after two Ctrl-C and ignores an older instance with the same name', async () => {
    world.renting.newId = () => OLD;
    expect(await job('true')).toMatchObject({ code: 0 });
    world.renting.newId = () => NEW;
    let isAsked = false;
    world.renting.posts = [
      () => {
        isAsked = true;
        return new Promise(() => undefined);
      },
    ];
    const { interrupts, press } = ctrlC();
    const ended = world.run('true', reporting(), { interrupts });
    await until(() => isAsked);
    press();
    press();
    const { code } = await ended;
    expect(code).toBe(7);
    expect(report()).toMatchObject({
      stage: 'renting',
      terminated: 'unknown',
      exit_code: 7,
      instance: { id: null, name: 'job' },
    });
  });

  test('leaves the instance alone whose ID is in a refusal', async () => {
    world.renting.rent(OLD, 'other');
    world.renting.posts = [
      () => ({ status: 409, body: { error: { message: 'taken' }, data: { id: OLD } } }),
    ];
    await job('true');
    expect(world.renting.instances.get(OLD)?.status).toBe('ACTIVE');
  });

  test('exits with 7 without running the command if the response to the create is lost', async () => {
    world.renting.posts = [() => 'hangUp'];
    const { code } = await job('echo ran');
    expect(code).toBe(7);
    expect(world.ssh.scripts).toEqual([]);
  });

  test('writes a report if nothing was rented', async () => {
    world.renting.posts = [() => no(403, 'Forbidden')];
    await job('true', ...reporting());
    expect(report()).toMatchObject({ stage: 'renting', instance: null, exit_code: 4 });
  });
});

describe('the deadline of a job', () => {
  const result = () => readFileSync(world.local('result'), 'utf8');
  const flags = (time: string, grace: string) => [
    ...['--terminate-after', time, '--grace', grace],
    ...['--fetch', `result:${world.local('result')}`],
  ];

  test('interrupts the command in time to fetch its results', async () => {
    const ended = world.run(`trap 'echo x >result; exit 9' INT; ${LASTS}`, flags('10m', '4m'));
    await followed(world);
    world.advance(7 * 60_000);
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(9);
    expect(result()).toBe('x\n');
    expect(world.status()).toBe('TERMINATING');
  });

  test('fetches the existing results if the command ignores the interrupt', async () => {
    const ended = world.run(`trap '' INT; echo x >result; ${LASTS}`, flags('10m', '4m'));
    await followed(world);
    world.advance(8.5 * 60_000);
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(125);
    expect(result()).toBe('x\n');
    expect(world.status()).toBe('TERMINATING');
  });

  test('exits with 125 without fetching results at the deadline', async () => {
    const ended = world.run(`echo x >result; ${LASTS}`, flags('10m', '0s'));
    await followed(world);
    const { stdout } = await world.gpucloud(['instances', 'get', 'job', '--json']);
    world.advance(Date.parse(JSON.parse(stdout).ends_at) - world.clock.now() + 1_000);
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(125);
    expect(existsSync(world.local('result'))).toBe(false);
    expect(world.status()).toBe('TERMINATING');
  });

  test('fetches the existing results if the computer slept past the deadline', async () => {
    const ended = world.run(`echo x >result; ${LASTS}`, flags('10m', '4m'));
    await followed(world);
    world.advance(60 * 60_000);
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(125);
    expect(result()).toBe('x\n');
    expect(world.status()).toBe('TERMINATING');
  });

  test('exits with 125 if the instance is not ready before the deadline', async () => {
    const rent = world.renting.rent.bind(world.renting);
    world.renting.rent = (id, name) => rent(id, name, { status: 'PROVISIONING' });
    let reads = 0;
    world.renting.onRead = async () => {
      reads += 1;
      if (reads === 3) world.advance(7 * 60_000);
    };
    const { code, stderr } = await world.run('true', flags('10m', '4m'));
    expect({ code, status: world.status() }, stderr).toEqual({ code: 125, status: 'TERMINATING' });
  });

  test('applies the deadline from instances expire during the run', async () => {
    const ended = world.run(LASTS, ['--grace', '0s']);
    await followed(world);
    const expire = ['instances', 'expire', 'job', '--after', '2s'];
    expect(await world.gpucloud(expire)).toMatchObject({ code: 0 });
    world.advance(3_000);
    expect(await ended).toMatchObject({ code: 125 });
    expect(world.status()).toBe('TERMINATING');
  });

  test('allows a fetch to retry after a lost connection', async () => {
    let cuts = 0;
    world.ssh.refuse = (script) =>
      script.includes('result') && cuts++ < 4 ? 'ssh: connect: Connection refused' : undefined;
    await job('echo x >result', ...flags('1h', '5m'));
    expect(result()).toBe('x\n');
  });
});

test('terminates the instance with --keep-on-failure 0s, even if results are missing', async () => {
  const flags = ['--keep-on-failure', '0s', '--fetch', `missing:${world.local('x')}`];
  await job('true', ...flags);
  expect(world.status()).toBe('TERMINATING');
});
