import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeLoad } from '../../src/sandbox/ssh/index.ts';
import { placeOf } from '../../src/sandbox/ssh/place.ts';
import { writeProc } from '../../src/sandbox/ssh/proc.ts';
import { needs } from '../support/needs.ts';
import { temporaryFolder } from './support.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';

test('shows in /proc how busy the instance was since the last look', needs('POSIX'), async () => {
  const file = join(await temporaryFolder(), 'sandbox.json');
  const place = placeOf(file, ID);
  await mkdir(place.home, { recursive: true });
  await writeFile(place.mark, '');
  await utimes(place.mark, 1000, 1000);
  const shown = async (seconds: number) => {
    await writeProc(place, seconds * 1000);
    const names = ['stat', 'uptime', 'loadavg', 'meminfo'];
    const all = await Promise.all(names.map((name) => readFile(join(place.proc, name), 'utf8')));
    const net = await readFile(join(place.proc, 'net/dev'), 'utf8');
    return [...all, net.split('\n')[2]].join('\n');
  };
  const memory = (free: number) =>
    `MemTotal:       67108864 kB\nMemFree:        ${free} kB\nMemAvailable:   ${free} kB\n`;
  expect(await shown(1010)).toBe(
    `cpu  80 0 0 7920 0 0 0 0 0 0\nbtime 1000\n\n10.00 79.20\n\n0.08 0.08 0.08 1/100 1\n\n${memory(63417876)}\n  eth0: 1000 0 0 0 0 0 0 0 1000 0 0 0 0 0 0 0`,
  );
  await writeLoad(file, ID, 50);
  expect(await shown(1020)).toBe(
    `cpu  4080 0 0 11920 0 0 0 0 0 0\nbtime 1000\n\n20.00 119.20\n\n4.00 4.00 4.00 1/100 1\n\n${memory(46976205)}\n  eth0: 2000 0 0 0 0 0 0 0 2000 0 0 0 0 0 0 0`,
  );
  // The instance was started again.
  expect(await shown(1005)).toContain('cpu  2000 0 0 2000 0 0 0 0 0 0\n');
  // A job of run is busy until it exits.
  await writeLoad(file, ID, undefined);
  await mkdir(join(place.home, 'gpucloud-run', 'started'), { recursive: true });
  expect(await shown(1015)).toContain('cpu  9760 0 0 2240 0 0 0 0 0 0\n');
  await writeFile(join(place.home, 'gpucloud-run', 'exit'), '0');
  expect(await shown(1025)).toContain('cpu  9840 0 0 10160 0 0 0 0 0 0\n');
  // No time has passed since the last look.
  await writeLoad(file, ID, 100);
  expect(await shown(1025)).toContain('cpu  9840 0 0 10160 0 0 0 0 0 0\n');
});
