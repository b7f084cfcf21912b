import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { createComputer, heard, outcomeOf } from '../support/program.ts';
import { startService } from '../support/service.ts';

// Only Windows has Ctrl-Break, so a preloaded script turns SIGUSR2 into SIGBREAK.
const PRELOAD = `process.on('SIGUSR2', () => {
  process.emit('SIGBREAK', 'SIGBREAK');
  process.stderr.write('passed on\\n');
});`;

test('exits with 130 on Ctrl-Break', needs('the npm package'), async () => {
  const computer = await createComputer();
  let asked: () => void = () => undefined;
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const service = await startService(() => {
    asked();
    return new Promise(() => undefined);
  });
  try {
    const preload = join(computer.home, 'preload.cjs');
    await writeFile(preload, PRELOAD);
    const child = computer.start(['drives', 'list'], {
      env: {
        NODE_OPTIONS: `--require ${preload}`,
        GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
        GPUCLOUD_BASE_URL: service.url,
      },
    });
    const ended = outcomeOf(child);
    await isAsked;
    child.kill('SIGUSR2');
    await heard(child, 'stderr', /passed on/);
    expect(await ended).toMatchObject({
      code: 130,
      stdout: '',
      stderr: expect.stringContaining('Interrupted.'),
    });
  } finally {
    await service.close();
    await computer.remove();
  }
});
