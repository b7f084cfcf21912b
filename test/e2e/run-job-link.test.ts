import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { runFast } from '../jobs/fast-run.ts';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs, programAt } from '../support/needs.ts';
import { heard } from '../support/program.ts';
import { pause } from '../support/terminal.ts';

let world: JobWorld;

const SLOW = { timeout: 150_000, ...needs('Linux') };

/** Counts to 40 in about 3 seconds. */
const COUNTS = [
  'sh',
  '-c',
  'echo ran >>ran; i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo $i; sleep 0.05; done; echo all >>ran',
];
const NUMBERS = Array.from({ length: 40 }, (_, at) => `${at + 1}\n`).join('');

describe('the connection of gpucloud run', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
  });

  /** Starts a run, and waits until its command runs. */
  async function started(words: readonly string[], command: readonly string[], env = {}) {
    const child = world.computer.start([...world.words(...words), '--', ...command], {
      env: { ...world.env, ...env },
    });
    let stdout = '';
    child.stdout.on('data', (text) => {
      stdout += text;
    });
    const ended = once(child, 'close').then(([code]) => ({ code, stdout }));
    await heard(child, 'stdout', /1\n/);
    return { child, ended };
  }

  const ran = () => readFile(join(world.there, 'gpucloud-run', 'work', 'ran'), 'utf8');

  test('reconnects after a minute, and prints each byte once', async () => {
    const running = runFast(world, [...world.words(), '--', ...COUNTS]);
    await expect.poll(() => ran().catch(() => '')).toContain('ran\n');
    await world.sshd.stop();
    // The program's fast clock counts more than a minute.
    await pause(800);
    await world.startSshd();
    expect(await running).toMatchObject({ code: 0, stdout: NUMBERS });
    expect(await ran()).toBe('ran\nall\n');
  });

  test('reconnects if the connection is dead but not closed', async () => {
    const bin = join(world.computer.home, 'bin');
    await mkdir(bin);
    // Detects a dead connection after seconds instead of 45 s.
    const script = `#!/bin/sh\nexec ${programAt('ssh')} -o ServerAliveInterval=1 "$@"\n`;
    await writeFile(join(bin, 'ssh'), script, { mode: 0o755 });
    const { ended } = await started([], COUNTS, { PATH: `${bin}:${process.env.PATH}` });
    world.sshd.freeze();
    expect(await ended).toEqual({ code: 0, stdout: NUMBERS });
    expect(await ran()).toBe('ran\nall\n');
  });

  test('prints the output written while the computer slept', async () => {
    const { child, ended } = await started([], COUNTS);
    child.kill('SIGSTOP');
    await expect.poll(ran).toBe('ran\nall\n');
    child.kill('SIGCONT');
    expect(await ended).toEqual({ code: 0, stdout: NUMBERS });
    expect(world.status()).toBe('TERMINATING');
  });

  test('terminates if the deadline passes while the computer sleeps', async () => {
    const { child, ended } = await started([], ['sh', '-c', 'echo 1; sleep 20']);
    child.kill('SIGSTOP');
    const expire = ['instances', 'expire', 'job', '--after', '1s'];
    expect(await world.computer.gpucloud(expire, { env: world.env })).toMatchObject({ code: 0 });
    await pause(1_000);
    child.kill('SIGCONT');
    expect(await ended).toMatchObject({ code: 125 });
    expect(world.status()).toBe('TERMINATING');
  });

  test('keeps output that nobody reads on the disk, not in memory', SLOW, async () => {
    const size = 150_000_000;
    const child = world.computer.start(
      [...world.words(), '--', 'head', '-c', String(size), '/dev/zero'],
      { env: world.env },
    );
    // The rest waits on the disk for its reader.
    while (world.status() !== 'TERMINATING') await pause(100);
    const held = Number(
      /^VmHWM:\s*(\d+)/m.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))?.[1],
    );
    let read = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      read += chunk.length;
    });
    expect((await once(child, 'close'))[0]).toBe(0);
    expect(read).toBe(size);
    // KB.
    expect(held).toBeGreaterThan(30_000);
    expect(held).toBeLessThan(140_000);
  });

  test.each([26, -26])(
    "terminates on time if the service's clock is %i hours ahead",
    async (hours) => {
      let terminated = 0;
      world.renting.terminations = [
        (id) => {
          terminated = Date.now();
          return world.renting.terminate(id);
        },
      ];
      world.advance(hours * 3_600_000);
      const began = Date.now();
      const words = world.words('--terminate-after', '4s', '--grace', '0s');
      const { code, stderr } = await runFast(world, [...words, '--', 'sleep', '20']);
      expect(code, stderr).toBe(125);
      expect(stderr).toContain('The deadline has passed.');
      // The Date header shows whole seconds.
      expect(terminated - began).toBeGreaterThan(2_900);
    },
  );
});
