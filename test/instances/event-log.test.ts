import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { Api } from '../../src/api/index.ts';
import { eachEvent } from '../../src/instances/event-log.ts';
import { at } from '../watch/pages.ts';

const PAGE = 1000;

/** Creates a log with `total` events. `grown` returns the number added before a page is read. */
function apiWith(total: number, grown: (page: number) => number = () => 0): Api {
  const events = async (_id: string, { page = 1 }: { page?: number }) => {
    const all = total + grown(page);
    const newest = all - (page - 1) * PAGE;
    const length = Math.max(0, Math.min(PAGE, newest));
    const data = Array.from({ length }, (_, at) => ({ id: `event-${newest - at}` }));
    return { data, meta: { total: all, page, limit: PAGE, total_pages: Math.ceil(all / PAGE) } };
  };
  return { instances: { events } } as unknown as Api;
}

test('returns each event once while the log grows', async () => {
  const api = apiWith(5000, (page) => (page - 1) * 700);
  const ids: string[] = [];
  for await (const { id } of eachEvent(api, 'trainer', PAGE, undefined)) ids.push(id);
  expect(ids).toEqual(Array.from({ length: 5000 }, (_, at) => `event-${5000 - at}`));
});

const old = (count: number) => Array.from({ length: count }, () => 1);

test.each([
  [[5, 4, ...old(9), 3, ...old(12)], ['event-1', 'event-2', 'event-12'], 22],
  [[...old(9), 3, ...old(12)], ['event-10'], 20],
  [[...old(10), 3], [], 10],
  [[2, 3], ['event-2'], 2],
])('stops after ten events in a row from before the start: %j', async (seconds, ids, pages) => {
  const asked: number[] = [];
  const events = async (_id: string, { page = 1 }: { page?: number }) => {
    asked.push(page);
    const data = [{ id: `event-${page}`, created_at: at(seconds[page - 1] ?? 0) }];
    const total = seconds.length;
    return { data, meta: { total, page, limit: 1, total_pages: total } };
  };
  const api = { instances: { events } } as unknown as Api;
  const found: string[] = [];
  const start = () => Date.parse(at(3));
  for await (const { id } of eachEvent(api, 'trainer', 1, start)) found.push(id);
  expect({ ids: found, pages: asked.length }).toEqual({ ids, pages });
});

test('reads 150,000 events in constant memory', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const held: number[] = [];
  let count = 0;
  for await (const _event of eachEvent(apiWith(150_000), 'trainer', PAGE, undefined)) {
    count += 1;
    if (count !== 30_000 && count !== 145_000) continue;
    collectGarbage();
    held.push(process.memoryUsage().heapUsed);
  }
  const [early = 0, late = Number.POSITIVE_INFINITY] = held;
  expect(count).toBe(150_000);
  expect(late - early).toBeLessThan(2.5 * 1024 * 1024);
});
