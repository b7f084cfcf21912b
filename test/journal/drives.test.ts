import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Journal } from '../../src/journal/index.ts';
import { manualClock } from '../support/clock.ts';
import { journalOf } from '../support/run-cli.ts';

const SCOPE = { service: 'https://api.example.com', account: 'user-1' };

let home: string;
let journal: Journal;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gpucloud-drives-'));
  journal = journalOf({ home, clock: manualClock() }, SCOPE);
});
afterEach(() => rm(home, { recursive: true }));

const day = (number: number) => `2026-01-0${number}T00:00:00.000Z`;
const drive = (price_per_hour: string, more = {}) => ({
  id: 'drive-1',
  price_per_hour,
  created_at: day(1),
  status: 'AVAILABLE',
  ...more,
});
const see = (at: string, ...drives: ReturnType<typeof drive>[]) =>
  journal.observeDrives(drives, at, { whole: true });

test('keeps a higher earlier price for a day after it ended', async () => {
  await see(day(1), drive('10.00'));
  expect(await journal.drives()).toMatchObject([{ price: '10.00', before: null }]);
  await see(day(2), drive('5.00'));
  await see(day(3), drive('3.00'));
  expect(await journal.drives()).toMatchObject([
    { price: '3.00', before: { price: '10.00', until: day(3) } },
  ]);
  await see(day(6), drive('2.00'));
  expect(await journal.drives()).toMatchObject([
    { price: '2.00', before: { price: '3.00', until: day(6) } },
  ]);
});

test('deletes the earlier price when the price rises', async () => {
  await see(day(1), drive('9.00'));
  await see(day(2), drive('10.00'));
  expect(await journal.drives()).toMatchObject([{ price: '10.00', before: null }]);
});

test('stores when a drive first disappeared from the list', async () => {
  await see(day(1), drive('10.00'));
  await journal.observeDrives([], day(2), { whole: false });
  expect(await journal.drives()).toMatchObject([{ gone_at: null }]);
  await see(day(3));
  await see(day(4));
  expect(await journal.drives()).toMatchObject([{ price: '10.00', gone_at: day(3) }]);
  await see(day(5), drive('10.00'));
  expect(await journal.drives()).toMatchObject([{ gone_at: null }]);
});

test('stores when a drive was last seen SUSPENDED', async () => {
  await see(day(1), drive('10.00', { status: 'SUSPENDED' }));
  await see(day(2), drive('10.00', { status: 'SUSPENDED' }));
  await see(day(3), drive('10.00'));
  expect(await journal.drives()).toMatchObject([{ suspended_at: day(2) }]);
});

test('replaces an unreadable drive file', async () => {
  await see(day(1), drive('10.00'));
  const folder = join(home, 'state', 'journal', 'api.example.com', 'user-1', 'drives');
  await writeFile(join(folder, 'drive-1.json'), '{"version": 1, "id"');
  expect(await journal.drives()).toEqual([]);
  await see(day(2), drive('5.00'));
  expect(await journal.drives()).toMatchObject([{ price: '5.00', before: null }]);
});

test('skips storing drives while the account is unknown', async () => {
  const other = journalOf({ home, clock: manualClock() }, { service: SCOPE.service });
  await other.observeDrives([drive('10.00')], day(1), { whole: true });
  expect(await other.drives()).toEqual([]);
});
