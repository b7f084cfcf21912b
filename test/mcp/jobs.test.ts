import { existsSync, readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLoopbackWorld, type LoopbackWorld } from '../jobs/loopback-world.ts';
import { addKey } from '../jobs/rescue/rented.ts';
import { exited, followed, LASTS, started } from '../jobs/stories.ts';
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
  const params = { name: 'run', arguments: given };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  stdin.write(`${JSON.stringify(call)}\n`);
  if (more.detach !== false) {
    await until(() => written.includes('"id":1'));
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
  return { end };
}

const fetched = () =>
  existsSync(world.local('out')) ? readFileSync(world.local('out'), 'utf8') : undefined;

/** Waits until the job's instance is terminated and its record is complete. */
const finished = () => until(() => world.terminations() > 0 && world.record().ended_at !== null);

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
  await started(world);
  world.ssh.refuse = () => 'Connection refused';
  world.ssh.cut();
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

test('exits with 125 if the results of a detached job were lost at the end', async () => {
  const { end } = await begin(LASTS);
  await started(world);
  expect(await end(125)).toContain(
    'error: Not all results of the job on job were copied. Could not copy files out: out does not exist on the instance',
  );
  expect(world.status()).not.toBe('ACTIVE');
});

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
