import { existsSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { fakeSsh } from '../idle/usage-world.ts';
import { createHereWorld } from '../jobs/here-world.ts';
import { createJobWorld, IMAGE, type JobWorld, OFFER } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { type Computer, type Outcome, outcomeOf } from '../support/program.ts';
import { NEW, type RentingService } from '../support/renting-service.ts';
import { ok } from '../support/service.ts';
import { taken } from '../support/signals.ts';
import { until } from '../support/ssh-world.ts';

/**
 * Shortens the pauses between two attempts to terminate, in the built program. Other work also takes
 * 10 or 30 s, so it shortens only after the first request to terminate.
 */
const FAST = `
  const { existsSync } = require('node:fs');
  const { setTimeout: wait } = globalThis;
  const isPause = (time) => [2_000, 10_000, 30_000].includes(time) && existsSync(__filename + '.on');
  globalThis.setTimeout = (work, time, ...given) =>
    wait(work, isPause(time) ? time / 50 : time, ...given);
`;

interface Scene {
  readonly renting: RentingService;
  readonly computer: Computer;
  gpucloud(...argv: string[]): Promise<Outcome>;
  /** The requests to terminate so far. */
  sent(): number;
  close(): Promise<void>;
}

let scene: Scene | undefined;
afterEach(() => scene?.close());

type Opened = Pick<JobWorld, 'renting' | 'computer' | 'service' | 'env' | 'close'>;

async function sceneOf(world: Opened, more: Readonly<Record<string, string>> = {}): Promise<Scene> {
  const fast = join(world.computer.home, 'fast.cjs');
  await writeFile(fast, FAST);
  const env = { ...world.env, NODE_OPTIONS: `--require ${fast}`, ...more };
  scene = {
    renting: world.renting,
    computer: world.computer,
    gpucloud: (...argv) => world.computer.gpucloud(argv, { env }),
    sent: () => world.service.requests.filter(({ path }) => path.endsWith('/terminate')).length,
    close: world.close,
  };
  return scene;
}

const CREATE = ['--offer', OFFER, '--image', IMAGE, '--no-ssh-key'];
const rowsIn = (stdout: string) => JSON.parse(stdout || 'null');

/** Each caller opens a scene, and returns the command that terminates the instance. */
const CALLERS: Readonly<Record<string, () => Promise<() => Promise<Outcome>>>> = {
  async 'instances terminate'() {
    const { renting, gpucloud } = await sceneOf(await createJobWorld());
    renting.rent(NEW, 'job');
    return () => gpucloud('instances', 'terminate', NEW, '-y', '--json');
  },
  async 'create --max-price'() {
    const { gpucloud } = await sceneOf(await createJobWorld());
    return () => gpucloud('instances', 'create', 'job', ...CREATE, '--max-price', '1', '--json');
  },
  async 'create --min-count'() {
    const { renting, gpucloud } = await sceneOf(await createJobWorld());
    let made = 0;
    renting.newId = () => {
      made += 1;
      return `${NEW.slice(0, -1)}${made}`;
    };
    const argv = ['instances', 'create', 'job', ...CREATE, '--count', '2', '--min-count', '2'];
    return () => {
      renting.posts = [
        () => ok({ ...renting.rent(renting.newId(), 'job-1'), name: 'job-1' }, 201),
        () => ({ status: 409, body: { statusCode: 409, message: 'none left', error: 'Conflict' } }),
      ];
      return gpucloud(...argv, '--json');
    };
  },
  async run() {
    const world = await createJobWorld();
    const { gpucloud } = await sceneOf(world);
    return () => gpucloud(...world.words('--unenforced'), '--', 'true');
  },
  async 'run --here'() {
    const world = await createHereWorld(2);
    const { gpucloud } = await sceneOf(world);
    return () => gpucloud(...world.words('--unenforced'), '--', 'true');
  },
  async 'jobs attach'() {
    const gpucloud = await detached('true');
    return () => gpucloud('jobs', 'attach', 'job');
  },
  async 'jobs stop'() {
    const gpucloud = await detached('sleep 60');
    return () => gpucloud('jobs', 'stop', 'job');
  },
  async 'reap, job'() {
    const gpucloud = await detached('true');
    return () => gpucloud('instances', 'reap', '--json');
  },
  async 'reap, deadline'() {
    const world = await createJobWorld();
    const { gpucloud } = await sceneOf(world);
    const ends = ['--terminate-after', '1h', '--unenforced'];
    expect(await gpucloud('instances', 'create', 'job', ...CREATE, ...ends)).toMatchObject({
      code: 0,
    });
    world.advance(2 * 3_600_000);
    return () => gpucloud('instances', 'reap', '--json');
  },
  async 'reap, idle'() {
    const world = await createJobWorld();
    const ssh = fakeSsh();
    ssh.add(1);
    onTestFinished(() => ssh.close());
    const { gpucloud, renting } = await sceneOf(world, ssh.env);
    const rule = ['--if-idle', '45m', '--unenforced'];
    expect(await gpucloud('instances', 'create', 'job', ...CREATE, ...rule)).toMatchObject({
      code: 0,
    });
    const at = { ip_address: '192.168.5.6', ssh_username: 'root', ssh_port: 1 };
    renting.rent(NEW, 'job', { status: 'ACTIVE', ...at } as object);
    let seconds = 5_000;
    const pass = () => {
      world.advance(25 * 60_000);
      seconds += 25 * 60;
      ssh.write(1, 'proc/uptime', `${seconds}.25 9000.00\n`);
      return gpucloud('instances', 'reap', '--every', '25m', '--json');
    };
    for (let at = 0; at < 2; at += 1) {
      const idle = await pass();
      expect(idle, idle.stderr).toMatchObject({ code: 0, stdout: '[]\n' });
    }
    return pass;
  },
};

/** Starts a job and waits until its command runs or has exited. */
async function detached(command: string) {
  const world = await createJobWorld();
  const { gpucloud } = await sceneOf(world);
  const words = world.words('--detach', '--unenforced');
  const started = await gpucloud(...words, '--', 'sh', '-c', command);
  expect(started, started.stderr).toMatchObject({ code: 0 });
  if (command === 'true') {
    await until(() => existsSync(join(world.there, 'gpucloud-run', 'exit')));
  }
  return gpucloud;
}

/** Accepts the next requests to terminate, but rolls each of them back. */
function rollBack({ renting, computer }: Scene, count: number): void {
  renting.terminations = Array.from({ length: count }, () => () => {
    writeFileSync(join(computer.home, 'fast.cjs.on'), '');
    return ok({ status: 'TERMINATING' });
  });
}

const living = ({ renting }: Scene) =>
  [...renting.instances.values()].filter(({ status }) => !/^TERMINAT/.test(status));

describe.each(Object.keys(CALLERS))('%s', { timeout: 120_000, ...needs('ssh') }, (name) => {
  const open = async () => {
    const end = await CALLERS[name]?.();
    if (end === undefined || scene === undefined) throw new Error('each caller opens a scene');
    return { end, at: scene };
  };

  test('exits with 7 and the ID while the service rolls each termination back', async () => {
    const { end, at } = await open();
    rollBack(at, 99);
    const { code, stdout, stderr } = await end();
    expect({ code, stderr }).toEqual({
      code: 7,
      stderr: expect.stringContaining('but its status is'),
    });
    const [first] = living(at);
    expect(stderr).toContain(first?.id);
    expect(stderr).toContain('It may still be billing.');
    expect(stderr).not.toMatch(/Terminated|was terminated/);
    if (name.startsWith('reap')) expect(rowsIn(stdout)).toMatchObject([{ outcome: 'unknown' }]);
    // At most four requests for each instance.
    expect(at.sent()).toBe(4 * living(at).length);
  });

  // The rows of instances/ending.test.ts have every way to end.
  if (!['instances terminate', 'run', 'reap, job'].includes(name)) return;
  test('reports the end once a later request is not rolled back', async () => {
    const { end, at } = await open();
    rollBack(at, 1);
    const { code, stdout, stderr } = await end();
    expect(code, stderr).toBe(0);
    expect(living(at)).toEqual([]);
    expect(stderr).not.toContain('may still be billing');
    if (name.startsWith('reap')) expect(rowsIn(stdout)).toMatchObject([{ outcome: 'terminated' }]);
  });
});

test('the third Ctrl-C stops every termination', { timeout: 60_000, ...needs('ssh') }, async () => {
  const world = await createJobWorld();
  const { renting, computer, sent } = await sceneOf(world);
  let made = 0;
  renting.newId = () => {
    made += 1;
    return `${NEW.slice(0, -1)}${made}`;
  };
  renting.terminations = Array.from({ length: 2 }, () => () => new Promise(() => undefined));
  const argv = ['instances', 'create', 'job', ...CREATE, '--count', '2', '--max-price', '1'];
  const child = computer.start([...argv, '--json'], { env: world.env });
  const ended = outcomeOf(child);
  await until(() => sent() === 2);
  for (let press = 0; press < 3; press += 1) {
    child.kill('SIGINT');
    await taken(child.pid ?? 0, 'SIGINT');
  }
  const { code, stderr } = await ended;
  expect(code, stderr).toBe(7);
  for (const { id } of renting.instances.values()) expect(stderr).toContain(id);
});
