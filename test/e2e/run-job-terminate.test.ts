import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runFast } from '../run-job/fast-run.ts';
import { createJobWorld, type JobWorld } from '../run-job/job-world.ts';
import { needs } from '../support/needs.ts';
import { NEW } from '../support/renting-service.ts';
import { no, ok } from '../support/service.ts';
import { until } from '../support/ssh-world.ts';

let world: JobWorld;
const sent = () => world.service.requests.filter(({ path }) => path.endsWith('/terminate')).length;

describe('the termination after gpucloud run', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
  });
  afterEach(() => world.close());

  function job(...command: string[]) {
    return runFast(world, [...world.words(), '--', ...command]);
  }

  test("exits with the command's code if the response is lost and the instance ends", async () => {
    world.renting.terminations = [
      (id) => {
        world.renting.terminate(id);
        return 'hangUp';
      },
    ];
    expect(await job('sh', '-c', 'exit 3')).toMatchObject({ code: 3 });
    expect({ sent: sent(), status: world.status() }).toEqual({ sent: 1, status: 'TERMINATING' });
  });

  test('exits with 7 and the ID if each response is lost and the instance is still ACTIVE', async () => {
    world.renting.terminations = Array.from({ length: 50 }, () => () => 'hangUp' as const);
    const { code, stderr } = await job('true');
    expect({ code, status: world.status() }).toEqual({ code: 7, status: 'ACTIVE' });
    expect(stderr).toContain(NEW);
    expect(stderr).toContain('It may still be billing');
  });

  test('tries again while the service shows the instance as ACTIVE', async () => {
    const { renting } = world;
    const refuses = () => no(400, 'Instance is already terminating');
    renting.terminations = [
      // Carried out, and shown later.
      () => 'hangUp',
      refuses,
      refuses,
      (id) => {
        renting.terminate(id);
        return refuses();
      },
    ];
    expect(await job('true')).toMatchObject({ code: 0 });
    expect(sent()).toBe(4);
  });

  test('exits with 7 if the service accepts each request and the instance is still ACTIVE', async () => {
    world.renting.terminations = Array.from({ length: 50 }, () => () => ok({ status: 'ACTIVE' }));
    const { code, stderr } = await job('true');
    expect(code).toBe(7);
    expect(stderr).toContain(NEW);
  });

  test('exits with 7 if the instance could not be terminated', async () => {
    world.renting.terminations = Array.from({ length: 50 }, () => () => no(403, 'Forbidden'));
    const { code, stderr } = await job('true');
    expect(code).toBe(7);
    expect(stderr).toContain('It may still be billing');
    expect(world.status()).toBe('ACTIVE');
  });

  test("terminates if --keep-on-failure can't store the new deadline", async () => {
    const words = [...world.words('--keep-on-failure', '30m'), '--', 'sh', '-c'];
    const ended = runFast(world, [...words, 'touch up; sleep 1; exit 5']);
    await until(() => existsSync(join(world.there, 'gpucloud-run', 'work', 'up')));
    const state = join(world.computer.home, 'state');
    const deadlines = readdirSync(state, { recursive: true })
      .map(String)
      .filter((path) => path.endsWith('/deadlines'));
    expect(deadlines).toHaveLength(1);
    for (const path of deadlines) {
      rmSync(join(state, path), { recursive: true });
      writeFileSync(join(state, path), 'in the way');
    }
    const { code, stderr } = await ended;
    expect({ code, status: world.status() }).toEqual({ code: 5, status: 'TERMINATING' });
    expect(stderr).toContain('Could not keep job');
  });

  test('reports an instance over --max-price as terminated, with its cost', async () => {
    const { computer, env } = world;
    const argv = [...world.words('--max-price', '1', '--report', 'report.json'), '--', 'true'];
    const { code, stderr } = await computer.gpucloud(argv, { env });
    expect(code).toBe(125);
    expect(stderr).toContain('Terminated job after');
    const report = JSON.parse(await readFile(join(computer.home, 'report.json'), 'utf8'));
    expect(report).toMatchObject({
      command_exit_code: null,
      instance: { id: NEW, name: 'job' },
      terminated: true,
      cost_at_most: '89.90',
      exit_code: 125,
    });
    expect(world.status()).toBe('TERMINATING');
  });

  test('suggests only its own flags if the name is taken, and reports that the job has ended', async () => {
    const { computer, env } = world;
    expect(await world.run(['--detach', '--unenforced'], ['true'])).toMatchObject({ code: 0 });
    const second = await world.run([], ['true']);
    expect(second).toMatchObject({ code: 5 });
    expect(second.stderr).toContain('hint: see it: gpucloud instances get job; otherwise choose');
    const attach = ['jobs', 'attach', 'job'];
    expect(await computer.gpucloud(attach, { env })).toMatchObject({ code: 0 });
    expect(await computer.gpucloud(attach, { env })).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/^error: The job on job ended .*jobs logs job\n$/s),
    });
  });
});
