import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { runFast } from '../jobs/fast-run.ts';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { pause } from '../support/terminal.ts';

let world: JobWorld;
let folder: string;

const WAITS = ['sh', '-c', 'echo up; while [ ! -f go ]; do sleep 0.1; done; exit 3'];
const times = (text: string, part: string) => text.split(part).length - 1;

describe('signing in to the instance of a job', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
    folder = await mkdtemp(join(tmpdir(), 'gpucloud-keys-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  /** Waits until the command of {@link WAITS} runs and gpucloud prints its output. */
  const isUp = async () => {
    const out = join(world.there, 'gpucloud-run', 'out');
    while ((await readFile(out, 'utf8').catch(() => '')) === '') await pause(50);
    await pause(1_000);
  };

  test('gives up after --wait-timeout if the server hangs after its banner', async () => {
    const sockets: Socket[] = [];
    const hanging: Server = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      socket.write('SSH-2.0-OpenSSH_9.6\r\n');
    });
    await once(hanging.listen(0, '127.0.0.1'), 'listening');
    const address = hanging.address();
    const ssh_port = typeof address === 'object' ? address?.port : undefined;
    const rent = world.renting.rent;
    world.renting.rent = (id, name, more) => rent(id, name, { ...more, ssh_port } as object);
    try {
      const { code, stderr } = await world.run(['--wait-timeout', '6s'], ['true']);
      expect(code, stderr).toBe(125);
      expect(stderr).toContain('Could not sign in with SSH within 6s: ');
      expect(world.status()).toBe('TERMINATING');
    } finally {
      for (const socket of sockets) socket.destroy();
      hanging.close();
    }
  });

  test('prints once why the interrupt failed', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const interrupts = { first: first.signal, second: second.signal };
    const running = runFast(world, [...world.words(), '--', ...WAITS], { interrupts });
    await isUp();
    await world.sshd.stop();
    first.abort(new CliError('interrupted', 'Interrupted.'));
    await pause(3_000);
    second.abort(new CliError('interrupted', 'Interrupted.'));
    const { code, stderr } = await running;
    expect(code, stderr).toBe(130);
    expect(times(stderr, 'Could not interrupt the command: ')).toBe(1);
    expect(stderr).toMatch(/Could not interrupt the command: .*Connection refused/);
  });
});
