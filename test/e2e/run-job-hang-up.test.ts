import pty from '@lydell/node-pty';
import { beforeEach, describe, expect, test } from 'vitest';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { PROGRAM, RUNNER } from '../support/program.ts';
import { until } from '../support/ssh-world.ts';

let world: JobWorld;

describe('gpucloud run in a terminal that closes', needs('ssh', 'POSIX'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
  });

  test('terminates the instance and exits with 129', async () => {
    const words = [PROGRAM, ...world.words(), '--', 'sh', '-c', 'echo be"g"un; sleep 20'];
    const { home: cwd, env } = world.computer;
    const child = pty.spawn(RUNNER, words, { cwd, env: { ...env, ...world.env } });
    let shown = '';
    child.onData((text) => {
      shown += text;
    });
    const ended = new Promise((resolve) => child.onExit(resolve));
    await until(() => shown.includes('begun'));
    // Closes the terminal, as closing its window does.
    (child as unknown as { _socket: { destroy(): void } })._socket.destroy();
    expect(await ended).toEqual({ exitCode: 129, signal: 0 });
    expect(world.status()).toBe('TERMINATING');
  });
});
