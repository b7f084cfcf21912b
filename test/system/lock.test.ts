import { existsSync, rmdirSync } from 'node:fs';
import { mkdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { HolderLives, isLocked, withLock } from '../../src/system/lock.ts';
import { temporaryFolder } from '../support/afterwards.ts';

const failuresOfLock = (locked: Promise<unknown>) =>
  locked.then(
    () => undefined,
    (error: unknown) => error,
  );

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

test('runs at most one callback at a time', async () => {
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

test('reports a lock that is held, without taking it', async () => {
  const file = join(folder, 'state.json');
  expect(await isLocked(file)).toBe(false);
  expect(await withLock(file, () => isLocked(file))).toBe(true);
  expect(await isLocked(file)).toBe(false);
  await mkdir(`${file}.lock`);
  expect(await isLocked(file)).toBe(true);
  const long = new Date(Date.now() - 11_000);
  await utimes(`${file}.lock`, long, long);
  expect(await isLocked(file)).toBe(false);
  expect(existsSync(`${file}.lock`)).toBe(true);
});

test('takes over the lock of a dead process', async () => {
  const file = join(folder, 'state.json');
  await mkdir(`${file}.lock`);
  const long = new Date(Date.now() - 11_000);
  await utimes(`${file}.lock`, long, long);
  expect(await withLock(file, async () => 'done')).toBe('done');
});

test.each([3, 26])('takes over a stale lock dated %i hours in the future', async (hours) => {
  const file = join(folder, 'state.json');
  await mkdir(`${file}.lock`);
  const later = new Date(Date.now() + hours * 3_600_000);
  await utimes(`${file}.lock`, later, later);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    let isOver = false;
    const taken = withLock(file, async () => undefined).finally(() => {
      isOver = true;
    });
    const began = performance.now();
    while (!isOver) {
      // Lets disk operations finish, since the fake clock does not advance.
      while (!isOver && vi.getTimerCount() === 0) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      await vi.advanceTimersToNextTimerAsync();
    }
    await taken;
    expect(performance.now() - began).toBeGreaterThan(10_000);
  } finally {
    vi.useRealTimers();
  }
});

test('tries again if another process removes the new lock', async () => {
  const file = join(folder, 'state.json');
  const taken = withLock(file, async () => existsSync(`${file}.lock`));
  while (!existsSync(`${file}.lock`)) await new Promise((resolve) => setImmediate(resolve));
  rmdirSync(`${file}.lock`);
  expect(await taken).toBe(true);
});

test('waits while another process refreshes the lock', async () => {
  const file = join(folder, 'state.json');
  const refreshed = async () => (await stat(`${file}.lock`)).mtimeMs;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  try {
    const order: string[] = [];
    let release = () => {};
    const held = withLock(file, () => new Promise<void>((resolve) => (release = resolve)));
    await vi.waitFor(refreshed);
    const second = withLock(file, async () => order.push('second'));
    for (let seconds = 0; seconds <= 10; seconds += 2) {
      const before = await refreshed();
      vi.advanceTimersByTime(2_000);
      await vi.waitFor(async () => expect(await refreshed()).toBeGreaterThan(before));
    }
    order.push('first');
    release();
    await held;
    await vi.waitUntil(() => order.length === 2);
    await second;
    expect(order).toEqual(['first', 'second']);
  } finally {
    vi.useRealTimers();
  }
});

test('gives up on a living holder, and waits for a dead one', async () => {
  const file = join(folder, 'state.json');
  const yields = { yields: true };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  try {
    let release = () => {};
    const held = withLock(file, () => new Promise<void>((resolve) => (release = resolve)));
    await vi.waitFor(() => stat(`${file}.lock`));
    const second = failuresOfLock(withLock(file, async () => 'second', yields));
    const end = setInterval(() => vi.advanceTimersByTime(100), 1);
    expect(await second).toBeInstanceOf(HolderLives);
    clearInterval(end);
    release();
    await held;
  } finally {
    vi.useRealTimers();
  }
  await mkdir(`${file}.lock`);
  const long = new Date(Date.now() - 9_900);
  await utimes(`${file}.lock`, long, long);
  expect(await withLock(file, async () => 'done', yields)).toBe('done');
});

test("throws immediately if the lock can't be created", async () => {
  const file = join(folder, 'x'.repeat(300));
  // A retry would wait forever, since the fake timers never fire.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    const work = async () => 'done';
    await expect(withLock(file, work)).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
    const otherwise = async (_error: unknown, isHeld: boolean) => `otherwise ${isHeld}`;
    expect(await withLock(file, work, { otherwise })).toBe('otherwise false');
  } finally {
    vi.useRealTimers();
  }
});

test('runs the fallback while another process holds the lock', async () => {
  const file = join(folder, 'missing', 'state.json');
  const otherwise = async (_error: unknown, isHeld: boolean) => `otherwise ${isHeld}`;
  const done = await withLock(file, () =>
    withLock(file, async () => 'done', { patience: 0, otherwise }),
  );
  expect(done).toBe('otherwise true');
});

test('runs the callback only once, even if it throws a lock error', async () => {
  const held = Object.assign(new Error('Lock file is already being held'), { code: 'ELOCKED' });
  let times = 0;
  const work = async () => {
    times += 1;
    throw held;
  };
  const otherwise = () => Promise.reject(new Error('otherwise'));
  await expect(withLock(join(folder, 'x'), work, { otherwise })).rejects.toBe(held);
  expect(times).toBe(1);
});

test('releases the lock when the callback throws', async () => {
  const file = join(folder, 'state.json');
  await expect(withLock(file, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withLock(file, async () => 'done')).toBe('done');
});

describe.each([
  ['that gains a file', (lock: string) => writeFile(join(lock, 'x'), '')],
  ['whose folder is removed', () => rm(folder, { recursive: true })],
  [
    'that becomes a file',
    async (lock: string) => {
      await rm(lock, { recursive: true });
      await writeFile(lock, '');
    },
  ],
])('a lock %s while held', (_how, spoil) => {
  test("returns the callback's result despite a changed lock file", async () => {
    const file = join(folder, 'state.json');
    const work = async () => {
      await spoil(`${file}.lock`);
      return 'done';
    };
    expect(await withLock(file, work)).toBe('done');
  });

  test("throws the callback's own error despite a changed lock file", async () => {
    const file = join(folder, 'state.json');
    const work = async () => {
      await spoil(`${file}.lock`);
      throw new Error('the work failed');
    };
    await expect(withLock(file, work)).rejects.toThrow('the work failed');
  });
});
