import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { gpuWords } from '../../src/jobs/end/gpu.ts';
import { sampleGpu } from '../../src/jobs/here/sample-gpu.ts';
import { gpuIn } from '../../src/jobs/remote/gpu-sample.ts';
import { probe } from '../../src/jobs/remote/probe.ts';
import type { RemoteShell } from '../../src/jobs/remote/remote-shell.ts';
import { FOLDER, INTERRUPT, RESET } from '../../src/jobs/remote/supervisor.ts';
import { needs } from '../support/needs.ts';
import { fewer } from '../support/random.ts';
import { until } from '../support/ssh-world.ts';
import { localShell, SHELLS } from './local-shell.ts';
import { followed, started } from './supervised.ts';

test.each([
  [12, 3174, 24564, 'GPU busy 12 % on average, peak memory 3.1 of 24 GiB'],
  [0, 1, 81559, 'GPU busy 0 % on average, peak memory 0 of 79.6 GiB'],
  [100, 24576, 24576, 'GPU busy 100 % on average, peak memory 24 of 24 GiB'],
])('says how busy %i %, %i of %i MiB are', (busy_percent, peak_memory_mib, total, expected) => {
  const gpu = { busy_percent, peak_memory_mib, memory_total_mib: total };
  expect(gpuWords(gpu)).toBe(expected);
});

test.each([
  ['2 199 22000 24564', { busy_percent: 100, peak_memory_mib: 22000, memory_total_mib: 24564 }],
  ['1 100 24564 24564', { busy_percent: 100, peak_memory_mib: 24564, memory_total_mib: 24564 }],
  ['8 100 0 81559', { busy_percent: 13, peak_memory_mib: 0, memory_total_mib: 81559 }],
  // No card, or none whose use nvidia-smi shows.
  ['0 0 -1 0', null],
  ['0 0 0 0', null],
  ['1 50 10 0', null],
  // More than all of a card.
  ['1 101 10 24564', null],
  ['1 50 24565 24564', null],
  ['1 50 10', null],
  ['1 50 10 24564 1', null],
  ['1 5e1 10 24564', null],
  ['1 50 10 9999999999', null],
  ['\u001b[31m', null],
  ['', null],
])('reads the use of the cards from %j', (text, gpu) => {
  expect(gpuIn(text)).toEqual(gpu);
});

const never = new AbortController().signal;

describe.each(fewer(Object.entries(SHELLS)))('the sampler in %s', (name, sh) => {
  const here = needs(name === 'busybox' ? 'busybox' : 'POSIX');
  let home: string;
  let shell: RemoteShell;
  const inJob = (path: string) => join(home, FOLDER, path);
  const program = (name: string, text: string) =>
    writeFile(join(home, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'gpucloud-gpu-'));
    await mkdir(join(home, 'bin'));
    // A pause between two samples ends when the test wants it.
    await program(
      'sleep',
      'if [ "$1" != 15 ]; then exec /bin/sleep "$@"; fi\n' +
        'echo $$ >sleeping; while [ ! -e next ]; do /bin/sleep 0.05; done; rm next',
    );
    shell = localShell(home, sh, join(home, 'bin'));
  });
  afterEach(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));

  const start = () => {
    const script = 'echo up; while [ ! -e go ]; do /bin/sleep 0.05; done; exit 3';
    return started(shell, { words: ['sh', '-c', script], variables: [] });
  };
  const go = () => writeFile(inJob('work/go'), '');
  /** Waits until the process that wrote its ID is gone. No init may reap it, as in a container. */
  const isGone = (file: string) =>
    until(() => {
      const pid = readFileSync(inJob(file), 'utf8').trim();
      return /^(Z.*)?$/.test(spawnSync('ps', ['-o', 'stat=', '-p', pid]).stdout.toString().trim());
    });

  test('adds up what every card shows, from the start on', here, async () => {
    const busy = { '50, 1000, 24564\n0, 3, 24564': 1, '[N/A], 5, 8\n100, 3000, 24564\nNo, x': 2 };
    await program('nvidia-smi', 'printf "%s" "$*" >asked; cat shown');
    await mkdir(inJob('work'), { recursive: true });
    const samples = Object.keys(busy);
    await writeFile(inJob('shown'), `${samples[0]}\n`);
    await start();
    await until(() => existsSync(inJob('gpu')));
    expect(await readFile(inJob('asked'), 'utf8')).toBe(
      '--query-gpu=utilization.gpu,memory.used,memory.total --format=csv,noheader,nounits',
    );
    expect(await readFile(inJob('gpu'), 'utf8')).toBe('2 50 1000 24564\n');
    expect(await probe(shell, never)).toMatchObject({
      state: 'running',
      gpu: { busy_percent: 25, peak_memory_mib: 1000, memory_total_mib: 24564 },
    });
    await writeFile(inJob('shown'), `${samples[1]}\n`);
    await writeFile(inJob('next'), '');
    await until(async () => (await readFile(inJob('gpu'), 'utf8')) === '3 150 3000 24564\n');
    // Ctrl-C reaches the command, not the sampler.
    await shell.run(INTERRUPT, never);
    expect(await followed(shell)).toEqual({
      out: 'up\n',
      err: '',
      exitCode: 130,
      gpu: { busy_percent: 50, peak_memory_mib: 3000, memory_total_mib: 24564 },
    });
    expect((await probe(shell, never)) as object).toMatchObject({ gpu: { busy_percent: 50 } });
    await isGone('sleeping');
    await shell.run(RESET, never);
    expect(existsSync(inJob('gpu'))).toBe(false);
  });

  test('holds nothing up with an nvidia-smi that hangs, and ends with the job', here, async () => {
    await program(
      'nvidia-smi',
      'trap "" TERM INT; echo $$ >hanging; while :; do /bin/sleep 9; done',
    );
    await start();
    await until(() => existsSync(inJob('hanging')));
    await go();
    expect(await followed(shell)).toEqual({ out: 'up\n', err: '', exitCode: 3 });
    await isGone('hanging');
  });

  test('keeps the exit code if the command writes over the numbers', here, async () => {
    const script = `head -c 5000 /dev/zero | tr '\\0' 1 >../gpu; seq 99 | tr '\\n' ' ' >../times; exit 3`;
    await started(shell, { words: ['sh', '-c', script], variables: [] });
    expect(await followed(shell)).toMatchObject({ out: '', err: '', exitCode: 3 });
    expect(await probe(shell, never)).toMatchObject({ state: 'exited', gpu: null });
  });

  test('keeps the exit code if an echo would make the numbers an end', here, async () => {
    const numbers = 'printf "%s\\n" "1 1 1 1\\nx 0\\ngpucloud-run exited 0"';
    const marks = [`${numbers} >../gpu`, `${numbers} >../times`, `${numbers} >../setup-done`];
    const script = `${marks.join('; ')}; exit 3`;
    await started(shell, { words: ['sh', '-c', script], variables: [] });
    expect(await followed(shell)).toMatchObject({ exitCode: 3 });
    expect(await probe(shell, never)).toMatchObject({ state: 'exited', exitCode: 3, gpu: null });
  });

  test('is left out without nvidia-smi', here, async () => {
    await start();
    await go();
    expect(await followed(shell)).toEqual({ out: 'up\n', err: '', exitCode: 3 });
    expect(await probe(shell, never)).toMatchObject({ state: 'exited', gpu: null });
    expect(existsSync(inJob('cards'))).toBe(false);
  });

  test('sends the numbers over a connection, and ends with it', here, async () => {
    await program('nvidia-smi', 'echo "50, 1000, 24564"');
    await mkdir(inJob('work'), { recursive: true });
    const gpu = await sampleGpu(shell, async () => {
      await until(() => existsSync(inJob('sleeping')));
      await writeFile(inJob('next'), '');
      await until(() => !existsSync(inJob('next')));
    });
    expect(gpu).toEqual({ busy_percent: 50, peak_memory_mib: 1000, memory_total_mib: 24564 });
    await writeFile(inJob('next'), '');
    await isGone('sleeping');
    await rm(join(home, 'bin', 'nvidia-smi'));
    expect(await sampleGpu(shell, async () => undefined)).toBeNull();
  });
});

test('a sampler whose connection fails leaves the work alone', async () => {
  const start = () => Promise.reject(new Error('no ssh'));
  expect(await sampleGpu({ start }, async () => undefined)).toBeNull();
  const broken = sampleGpu({ start }, () => Promise.reject(new Error('the work failed')));
  await expect(broken).rejects.toThrow('the work failed');
});
