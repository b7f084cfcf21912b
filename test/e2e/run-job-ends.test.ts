import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { until } from '../support/ssh-world.ts';

let world: JobWorld;

/** Prints `up`, then numbers until interrupted. */
const COUNTS = [
  'sh',
  '-c',
  'trap "echo caught; exit 9" INT; echo ran >>ran; echo up; i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo $i; sleep 0.1; done',
];

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  stdout(): string;
  stderr(): string;
}

function start(argv: readonly string[]): Running {
  const child = world.computer.start(argv, { env: world.env });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => resolve(code));
  });
  return { child, ended, stdout: () => stdout, stderr: () => stderr };
}

async function startedJob(...more: string[]): Promise<Running> {
  const job = start([...world.words(...more), '--', ...COUNTS]);
  await until(() => job.stdout().includes('up\n') || job.child.exitCode !== null);
  expect(job.stderr()).not.toContain('error:');
  return job;
}

describe('gpucloud run after an interrupt', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
  });

  test('sends the first Ctrl-C to the command, then fetches and terminates', async () => {
    const job = await startedJob('--fetch', 'ran');
    job.child.kill('SIGINT');
    expect(await job.ended).toBe(9);
    expect(job.stdout()).toMatch(/caught\n$/);
    expect(await readFile(join(world.computer.home, 'ran'), 'utf8')).toBe('ran\n');
    expect(world.status()).toBe('TERMINATING');
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('terminates the instance immediately after %s', async (signal, code) => {
    const job = await startedJob();
    job.child.kill(signal);
    expect(await job.ended).toBe(code);
    expect(world.status()).toBe('TERMINATING');
  });
});
