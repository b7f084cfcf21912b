import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { until } from '../support/ssh-world.ts';

let world: JobWorld;
let project: string;

const there = (name: string) => join(world.there, 'gpucloud-run', name);
const gpucloud = (...argv: string[]) => world.computer.gpucloud(argv, { env: world.env });
const rows = async () => JSON.parse((await gpucloud('jobs', 'list', '--json')).stdout);

describe('gpucloud run --setup', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
    project = join(world.computer.home, 'project');
    await mkdir(project);
    await writeFile(join(project, 'requirements.txt'), 'numpy\n');
  });

  test('survives a killed run and a cut link, and is a phase of jobs list', async () => {
    const setup = 'echo installing; while [ ! -e go ]; do sleep 0.1; done';
    const words = world.words('--setup', setup, '--detach', '--unenforced');
    const started = await gpucloud(...words, '--', 'echo', 'ran');
    expect(started.code, started.stderr).toBe(0);
    await until(() => existsSync(there('setup')));
    expect(await rows()).toMatchObject([{ status: 'RUNNING', phase: 'setup' }]);
    const attached = gpucloud('jobs', 'attach', 'job');
    await until(async () => (await readFile(there('err'), 'utf8')) === 'installing\n');
    world.cutLinks();
    await writeFile(there('work/go'), '');
    const { code, stdout, stderr } = await attached;
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'ran\n' });
    expect(stderr).toContain('installing\n');
    expect(world.status()).toBe('TERMINATING');
  });

  test('keeps a setup of 10 MB whole over a cut link, and after kill -9 of its run', async () => {
    const half = 'head -c 5000000 /dev/zero | tr "\\0" x';
    const setup = `echo x >>count; ${half}; while [ ! -e go ]; do sleep 0.1; done; ${half}`;
    const killed = world.computer.start([...world.words('--setup', setup), '--', 'cat', 'count'], {
      env: world.env,
    });
    const ended = once(killed, 'close');
    let printed = 0;
    killed.stderr.on('data', (bytes: Buffer) => {
      printed += bytes.filter((byte) => byte === 0x78).length;
    });
    await until(() => printed > 0);
    world.cutLinks();
    await until(() => printed >= 5_000_000);
    killed.kill('SIGKILL');
    await ended;
    const attached = gpucloud('jobs', 'attach', 'job');
    await writeFile(there('work/go'), '');
    const { code, stdout, stderr } = await attached;
    expect({ code, stdout }, stderr.slice(-500)).toEqual({ code: 0, stdout: 'x\n' });
    const logs = await gpucloud('jobs', 'logs', 'job');
    const isWhole = logs.stderr === 'x'.repeat(10_000_000);
    expect({ stdout: logs.stdout, isWhole }).toEqual({ stdout: 'x\n', isWhole: true });
    expect(world.status()).toBe('TERMINATING');
  });

  test("reports a setup that fills the instance's disk", needs('the right to mount'), async () => {
    const disk = await mountSmallDisk('256k');
    try {
      await symlink(disk.path, join(world.there, 'gpucloud-run'));
      const words = ['--setup', 'echo filling; cat /dev/zero >fill', '--fetch', 'out'];
      const { code, stdout, stderr } = await world.run(words, ['echo', 'ran']);
      expect({ code, stdout }, stderr).toEqual({ code: 125, stdout: '' });
      expect(stderr).toContain('filling\n');
      expect(stderr).toContain(
        "warning: The disk of job is full: the end of the command's output may be missing.\n",
      );
      expect(stderr).toContain(
        'error: The setup failed with exit code 1, so the command was not started.\n',
      );
      expect(world.status()).toBe('TERMINATING');
    } finally {
      await disk.remove();
    }
  });
});
