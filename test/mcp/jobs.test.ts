import { existsSync, readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLoopbackWorld, type LoopbackWorld } from '../jobs/loopback-world.ts';
import { addKey } from '../jobs/rescue/rented.ts';
import { exited, followed, LASTS, started } from '../jobs/stories.ts';
import { NEW } from '../support/renting-service.ts';
import { IMAGE, OFFER } from '../support/sandbox-ids.ts';
import { until } from '../support/ssh-world.ts';
import { budget } from './agent.ts';

let world: LoopbackWorld;
beforeEach(async () => {
  world = await createLoopbackWorld();
  vi.spyOn(process, 'cwd').mockReturnValue(world.local(''));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await world.close();
});

/** Starts a session whose agent runs a job for an hour at most, detached by default. */
async function begin(
  script: string,
  more: { detach?: boolean; rescue?: string[]; rescue_budget?: string; grace?: string } = {},
) {
  world.renting.sshKeys = [addKey(world.local(''))];
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  let written = '';
  stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text;
  });
  const ended = world.gpucloud(['mcp', '--allow', 'jobs', ...budget(1000)], { stdin, stdout });
  const given = {
    ...{ name: 'job', offer: [OFFER], image: IMAGE, max_price: '100', terminate_after: '1h' },
    ...{ fetch: ['out'], detach: true, command: ['sh', '-c', script], ...more },
  };
  const send = (id: number, name: string, given: object) => {
    const call = { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: given } };
    stdin.write(`${JSON.stringify(call)}\n`);
  };
  /** Returns the structured content of the response to a call. */
  async function received(id: number) {
    await until(() => written.includes(`"id":${id}}`));
    const lines = written
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    return lines.find((line) => line.id === id).result.structuredContent;
  }
  send(1, 'run', given);
  if (more.detach !== false) {
    await received(1);
    expect(written).toContain('"isError":false');
  }
  async function end(expected = 0) {
    stdin.end();
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(expected);
    // stdout holds messages only.
    for (const line of written.trim().split('\n')) {
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
    }
    return stderr;
  }
  async function terminate(name: string) {
    send(2, 'instances_terminate', { instance: [name] });
    return received(2);
  }
  return { end, terminate };
}

const fetched = () =>
  existsSync(world.local('out')) ? readFileSync(world.local('out'), 'utf8') : undefined;

/** Breaks all connections to the running job. */
async function unreachable({ ssh }: LoopbackWorld): Promise<void> {
  await started(world);
  ssh.refuse = () => 'Connection refused';
  ssh.cut();
}

/** Waits until the job's instance is terminated and its record is complete. */
const finished = () => until(() => world.terminations() > 0 && world.record().ended_at !== null);

test('terminates at level jobs what the session rented', async () => {
  const { end, terminate } = await begin(LASTS);
  await started(world);
  const { result } = await terminate('job');
  await end();
  expect(result).toMatchObject({ id: NEW, status: 'TERMINATING' });
  expect(world.terminations()).toBe(1);
});

test('copies the results of a detached job that has ended, and terminates its instance', async () => {
  const { end } = await begin('echo done > out');
  await exited(world);
  expect(world.status()).toBe('ACTIVE');
  world.advance(30_000);
  await finished();
  expect(fetched()).toBe('done\n');
  await end();
  expect(world.terminations()).toBe(1);
});

test('terminates the instance of an unreachable job at its deadline', async () => {
  const { end } = await begin(`echo partial > out; ${LASTS}`);
  await unreachable(world);
  world.advance(61 * 60_000);
  await finished();
  expect(fetched()).toBeUndefined();
  await end();
});

test('copies the results of a detached job before its deadline', async () => {
  const { end } = await begin(`echo partial > out; ${LASTS}`);
  await started(world);
  world.advance(30_000);
  expect(world.terminations()).toBe(0);
  world.advance(58 * 60_000);
  await finished();
  expect(fetched()).toBe('partial\n');
  await end();
});

test('terminates the instance of a job whose last try hangs, 10 minutes after its deadline', async () => {
  const { end } = await begin(`echo partial > out; ${LASTS}`);
  await started(world);
  let respond = () => {};
  const held = (id: string) =>
    new Promise<ReturnType<typeof world.renting.terminate>>((resolve) => {
      respond = () => resolve(world.renting.terminate(id));
    });
  world.renting.terminations = [held];
  world.advance(58 * 60_000);
  await until(() => world.terminations() === 1);
  expect(world.status()).toBe('ACTIVE');
  world.advance(13 * 60_000);
  await until(() => world.status() === 'TERMINATING');
  respond();
  await finished();
  await end();
});

/** The second look at what is left finds the instance terminating. */
const ALREADY = 'job is already TERMINATING.\n';
const NO_OUT = 'Could not copy files out: out does not exist on the instance';
test.each([
  ['is running without results', LASTS, started, NO_OUT, true],
  ['has ended without results', 'echo done > result', exited, NO_OUT, true],
  ['can not be stopped', LASTS, unreachable, 'Could not connect to job: Connection refused', false],
])(
  'terminates the instance of a detached job that %s at the end, and exits with 125',
  async (_what, script, when, why, isComplete) => {
    const { end } = await begin(script);
    await when(world);
    expect((await end(125)).split(/^Serving .*\n/m)[1]?.replace(ALREADY, '')).toBe(
      `error: Not all results of the job on job were copied. ${why}\n`,
    );
    const { stdout } = await world.gpucloud(['instances', 'list', '--json', '--all']);
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'job', status: 'TERMINATING' }]);
    expect(world.record().ended_at !== null).toBe(isComplete);
  },
);

test('copies the --rescue paths of a detached job at the end', async () => {
  const { end } = await begin(`echo done > out; echo kept > log; ${LASTS}`, {
    rescue: ['log:kept'],
  });
  await started(world);
  await end();
  expect(fetched()).toBe('done\n');
  expect(readFileSync(world.local('kept'), 'utf8')).toBe('kept\n');
  expect(world.status()).not.toBe('ACTIVE');
});

test('copies the --rescue paths of a running command at the end', async () => {
  const { end } = await begin(`echo done > out; echo kept > log; ${LASTS}`, {
    detach: false,
    rescue: ['log:kept'],
  });
  await followed(world);
  await end();
  expect(fetched()).toBe('done\n');
  expect(readFileSync(world.local('kept'), 'utf8')).toBe('kept\n');
  expect(world.status()).not.toBe('ACTIVE');
});

test('stops a running command that ignores SIGINT at the end, and copies its results', async () => {
  const { end } = await begin(`trap '' INT; echo done > out; ${LASTS}`, {
    detach: false,
    grace: '20s',
  });
  await followed(world);
  await end();
  expect(fetched()).toBe('done\n');
  expect(world.status()).not.toBe('ACTIVE');
});

test('exits with 125 if the --rescue paths of a running command were lost at the end', async () => {
  const { end } = await begin(`echo done > out; ${LASTS}`, {
    detach: false,
    rescue: ['log:kept'],
    rescue_budget: '0',
  });
  await followed(world);
  const stderr = await end(125);
  expect(stderr.split('\n').filter((line) => line.startsWith('error:'))).toEqual([
    'error: The budget of job was used up, so it was terminated before everything was copied (not copied: log). log does not exist on the instance.',
  ]);
  expect(world.status()).not.toBe('ACTIVE');
});
