import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { heard } from '../support/program.ts';

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

  test('terminates with the original key after a profile change', async () => {
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

  test('prints every byte once if attached a second after the last output', async () => {
    const { child, ended } = start([], ['sh', '-c', 'echo up; sleep 4; echo more']);
    await heard(child, 'stdout', /up/);
    await new Promise((resolve) => setTimeout(resolve, 1_800));
    child.kill('SIGKILL');
    await ended;
    expect(await attached()).toMatchObject({ code: 0, stdout: 'more\n' });
  }, 60_000);
});

function attached(...more: string[]) {
  expect(existsSync(world.computer.home)).toBe(true);
  return world.computer.gpucloud(['jobs', 'attach', 'job', ...world.signIn, ...more], {
    env: world.env,
  });
}
