import { mkdir, mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLock } from '../../src/files/lock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpucloud-lock-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('one after the other, in whatever order', async () => {
  const file = join(folder, 'state.json');
  let inside = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 20 }, () =>
      withLock(file, async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
      }),
    ),
  );
  expect(most).toBe(1);
});

test('the lock of a process that died is taken over', async () => {
  const file = join(folder, 'state.json');
  await mkdir(`${file}.lock`);
  const long = new Date(Date.now() - 11_000);
  await utimes(`${file}.lock`, long, long);
  expect(await withLock(file, async () => 'done')).toBe('done');
});

test('a lock that is being refreshed is waited for past the age of an abandoned one', async () => {
  const file = join(folder, 'state.json');
  const held = withLock(file, () => new Promise<void>((resolve) => setTimeout(resolve, 11_000)));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await withLock(file, async () => 'done')).toBe('done');
  await held;
});

test('a lock that can not be made is refused at once', async () => {
  const started = performance.now();
  await expect(withLock(join(folder, 'missing', 'x'), async () => 'done')).rejects.toMatchObject({
    code: 'ENOENT',
  });
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('the lock is given back when the work fails', async () => {
  const file = join(folder, 'state.json');
  await expect(withLock(file, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withLock(file, async () => 'done')).toBe('done');
});
