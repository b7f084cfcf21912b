import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { Api } from '../../src/api/index.ts';
import { eachEvent } from '../../src/instances/event-log.ts';

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
