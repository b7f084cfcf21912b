import pty from '@lydell/node-pty';
import { beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { type Computer, createComputer, PROGRAM, RUNNER } from '../support/program.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { until } from '../support/ssh-world.ts';

let computer: Computer;

describe('a terminal that closes at a question', needs('POSIX'), () => {
  beforeEach(async () => {
    computer = await createComputer();
    const create = ['--profile', 'sandbox', 'instances', 'create', 'box', ...HARDWARE];
    expect((await computer.gpucloud(create)).code).toBe(0);
  });

  test.each([
    [['instances', 'terminate', 'box'], 'Terminate box'],
    [['instances', 'create'], 'Instance name'],
    [['ssh-keys', 'add'], '?'],
  ])('ends %j with 129 and changes nothing', async (argv, question) => {
    const env = { ...computer.env, GPUCLOUD_PROFILE: 'sandbox', TERM: 'xterm' };
    const child = pty.spawn(RUNNER, [PROGRAM, ...argv], { cwd: computer.home, env });
    let shown = '';
    child.onData((text) => {
      shown += text;
    });
    const ended = new Promise((resolve) => child.onExit(resolve));
    await until(() => shown.includes(question));
    // Closes the terminal, as closing its window does.
    (child as unknown as { _socket: { destroy(): void } })._socket.destroy();
    expect(await ended).toEqual({ exitCode: 129, signal: 0 });
    const list = ['--profile', 'sandbox', 'instances', 'list', '--columns', 'name,status', '-o'];
    expect((await computer.gpucloud([...list, 'csv'])).stdout).toMatch(/^name,status\nbox,\w+\n$/);
  });
});
