import { describe, expect, test } from 'vitest';
import { type Cursor, createCursor } from '../../src/watch/cursor.ts';
import { type ReadPage, type WalkOptions, walkLog } from '../../src/watch/log-walk.ts';
import { event, logOf, pageOf, reader, type TestEvent } from './pages.ts';

const now = () => Date.parse('2026-01-15T13:00:00Z');

function walk(
  read: ReadPage<TestEvent>,
  cursor: Cursor = createCursor(),
  options: Partial<WalkOptions> = {},
) {
  return walkLog(read, cursor, { depth: 0, now, ...options });
}

/** Returns a cursor for a log that was read to its end. */
function memoryOf(events: readonly TestEvent[], kept = 1_000): Cursor {
  const cursor = createCursor(undefined, { kept });
  cursor.begin();
  cursor.learn(
    events.map(({ id, created_at }) => ({ id, time: Date.parse(created_at ?? '') })).reverse(),
  );
  return cursor;
}

const ids = ({ news }: { news: readonly { id: string }[] }) => news.map(({ id }) => id);

describe('walkLog', () => {
  test('reads a new log to its end, oldest first', async () => {
    const { read, asked } = reader(() => logOf(25));
    const found = await walk(read);
    expect(ids(found)).toEqual(
      logOf(25)
        .map(({ id }) => id)
        .reverse(),
    );
    expect(asked).toEqual([1, 2, 3]);
  });

  test('reports a gap if the pages hold fewer events than the service counts', async () => {
    const short: ReadPage<TestEvent> = async (page) => {
      const { data, meta } = pageOf(logOf(25), page, 10);
      return { data: page === 2 ? data.slice(1) : data, meta };
    };
    expect(await walk(short)).toMatchObject({ gap: 'missing' });
    // Without a count, nothing is known to be missing.
    const uncounted: ReadPage<TestEvent> = async (page) => {
      const { data, meta } = await short(page);
      return { data, meta: { ...meta, total: 99, isCounted: false } };
    };
    expect(await walk(uncounted)).toMatchObject({ gap: undefined });
    expect(await walk(reader(() => logOf(25)).read)).toMatchObject({ gap: undefined });
  });

  test('stops at ten known events in a row, not at the first', async () => {
    const log = logOf(100);
    const cursor = memoryOf(log);
    const late = log.toSpliced(9, 0, event('late', 91.5));
    const { read, asked } = reader(() => late, 5);
    expect(ids(await walk(read, cursor))).toEqual(['late']);
    // Nine known events precede the late event on page 2. Ten follow on pages 3 and 4.
    expect(asked).toEqual([1, 2, 3, 4]);
  });

  test('finds an event within the requested depth', async () => {
    const log = logOf(100);
    const deep = log.toSpliced(60, 0, event('deep', 40.5));
    const cursor = memoryOf(log);
    const read = async (depth: number) => {
      const { read: page, asked } = reader(() => deep);
      return [ids(await walk(page, cursor, { depth })), asked.length];
    };
    expect(await read(0)).toEqual([[], 1]);
    expect(await read(50)).toEqual([[], 5]);
    expect(await read(51)).toEqual([[], 6]);
    expect(await read(70)).toEqual([['deep'], 8]);
  });

  test('stops at the horizon before the requested depth', async () => {
    const log = logOf(1_000);
    const cursor = memoryOf(log, 20);
    // It keeps the newest 34, and must see ten older ones in a row.
    expect(cursor.size).toBe(34);
    const { read, asked } = reader(() => log, 3);
    expect(ids(await walk(read, cursor, { depth: 1_000 }))).toEqual([]);
    expect(asked).toHaveLength(15);
  });

  test('skips events that moved to the next page', async () => {
    let log = logOf(30);
    const found = await walk(async (page) => {
      const answer = pageOf(log, page, 10);
      if (page === 1) log = [...logOf(40).slice(0, 10), ...log];
      return answer;
    });
    expect(new Set(ids(found)).size).toBe(found.news.length);
    expect(ids(found)).toContain('e1');
  });

  /** How many events arrive before the second page, and which pages are then read. */
  test.each<[string, number, number[]]>([
    ['one per second', 0, [1, 2, 3]],
    ['one per second', 1, [1, 2, 3, 4]],
    ['one per second', 2, [1, 2, 1, 2, 3, 4]],
    ['one per second', 10, [1, 2, 1, 2, 3, 4]],
    ['all at once', 9, [1, 2, 3, 4]],
    ['all at once', 10, [1, 2, 1, 2, 3, 4]],
    ['ended', -1, [1, 2, 1, 2, 3]],
  ])('with events %s, reads on or again after %i more: pages %j', async (how, more, pages) => {
    const all = how === 'all at once' ? logOf(40).map(({ id }) => event(id, 1)) : logOf(40);
    let log = all.slice(10);
    const asked: number[] = [];
    const found = await walk(async (page) => {
      asked.push(page);
      if (page === 2) log = more < 0 ? all.slice(10, 39) : all.slice(10 - more);
      return pageOf(log, page, 10);
    });
    expect(asked).toEqual(pages);
    const isRead = pages.filter((page) => page === 1).length > 1;
    expect(ids(found)).toHaveLength(isRead ? 30 + more : 30);
  });

  test('puts an event that arrives during the walk before the known event that it precedes', async () => {
    const log = (text: string) => [...text].map((id) => event(id, 1));
    let page = 0;
    const found = await walk(async (number) => {
      page += 1;
      return pageOf(log(page === 1 ? 'fedcba' : 'fexydcba'), number, 3);
    });
    expect(ids(found).join('')).toBe('abcdyef');
  });

  test.each([true, false])(
    'restarts a walk when pages become longer (told: %s)',
    async (isTold) => {
      const log = logOf(40);
      const asked: string[] = [];
      let limit = 5;
      const found = await walk(async (page) => {
        asked.push(`${page} of ${limit}`);
        const { data, meta } = pageOf(log, page, limit);
        if (page === 2) limit = 10;
        return { data, meta: { ...meta, ...(isTold ? {} : { limit: 10 }) } };
      });
      expect(found.news).toHaveLength(40);
      expect(asked.slice(0, 4)).toEqual(['1 of 5', '2 of 5', '3 of 10', '1 of 10']);
    },
  );

  test('finishes a walk even if the log shrinks at each read', async () => {
    let log = logOf(60);
    const found = await walk(async (page) => {
      log = log.slice(0, -1);
      return pageOf(log, page, 5);
    });
    expect(ids(found)).toContain('e60');
    expect(ids(found)).toContain('e40');
  });

  test('throws if a page fails, and leaves the cursor unchanged', async () => {
    const cursor = memoryOf(logOf(3));
    const before = JSON.stringify(cursor.saved());
    const failing: ReadPage<TestEvent> = async (page) => {
      if (page === 2) throw new Error('cut');
      return pageOf(logOf(40), page, 10);
    };
    await expect(walk(failing, cursor)).rejects.toThrow('cut');
    expect(JSON.stringify(cursor.saved())).toBe(before);
  });

  test.each([
    { name: 'total_pages of 0', total_pages: 0 },
    { name: 'correct total_pages', total_pages: 3 },
  ])('reads a log to its end with $name', async ({ total_pages }) => {
    const found = await walk(async (page) => {
      const answer = pageOf(logOf(25), page, 10);
      return { ...answer, meta: { ...answer.meta, total_pages } };
    });
    expect(found.news).toHaveLength(25);
  });

  test('keeps events without a time in log order', async () => {
    const log: TestEvent[] = [
      { id: 'c' },
      event('b', 5),
      { id: 'x', created_at: 'yesterday' },
      { id: 'y', created_at: null },
      event('a', 1),
    ];
    expect(ids(await walk(reader(() => log).read))).toEqual(['a', 'y', 'x', 'b', 'c']);
    const timeless = ['d', 'c', 'b', 'a'].map((id) => ({ id }));
    const { news, isWhole } = await walk(reader(() => timeless, 2).read);
    const dated = ['a', 'b', 'c', 'd'].map((id) => ({ id, time: now(), event: { id } }));
    expect({ news, isWhole }).toEqual({ news: dated, isWhole: true });
  });

  test('finds a late event that arrives among known events during the walk', async () => {
    const log = logOf(40);
    const late = [event('late', 31.7), event('missed', 31.5)];
    const changed = log.toSpliced(9, 0, ...late.toReversed());
    const found = await walk(
      async (page) => pageOf(page === 1 ? log : changed, page, 10),
      memoryOf(log),
      { depth: 15 },
    );
    expect(ids(found)).toEqual(['late']);
  });

  test('sorts a log with times out of order', async () => {
    const log = [event('b', 2), event('c', 3), event('a', 1)];
    expect(ids(await walk(reader(() => log).read))).toEqual(['a', 'b', 'c']);
  });
});

describe('the start time of a log', () => {
  const since = () => Date.parse('2026-01-15T12:00:50Z');

  test('skips events before the start time without reading them all', async () => {
    const { read, asked } = reader(() => logOf(1_000), 100);
    const found = await walk(read, createCursor(), {
      since: () => Date.parse('2026-01-15T12:00:00Z') + 950_000,
    });
    expect(found.news).toHaveLength(51);
    expect(found.older.length).toBeGreaterThanOrEqual(10);
    expect(found.horizon).toBe(Date.parse('2026-01-15T12:00:00Z') + 901_000);
    expect(asked).toEqual([1]);
  });

  test('applies the start time only to the first walk', async () => {
    const cursor = memoryOf(logOf(20));
    const slow = [event('slow', 20.5), ...logOf(20)];
    expect(ids(await walk(reader(() => slow).read, cursor, { since }))).toEqual(['slow']);
  });
});

describe('a gap in a log', () => {
  test('reports a gap when the log no longer contains known events', async () => {
    const found = await walk(reader(() => logOf(40).slice(0, 10)).read, memoryOf(logOf(20)));
    expect(found).toMatchObject({ gap: 'pruned', news: { length: 10 } });
  });

  test.each([
    [0, undefined],
    [1, 'pruned'],
    [2, 'pruned'],
  ] as const)('with %i known events, reports the gap: %s', async (count, gap) => {
    const found = await walk(reader(() => logOf(40).slice(0, 10)).read, memoryOf(logOf(count)));
    expect(found).toMatchObject({ gap, news: { length: 10 } });
    const none = await walk(reader(() => []).read, memoryOf(logOf(count)));
    expect(none).toMatchObject({ gap: undefined, news: [] });
  });

  test('does not report a gap while known events remain', async () => {
    const found = await walk(reader(() => logOf(40).slice(0, 21)).read, memoryOf(logOf(20)));
    expect(found).toMatchObject({ gap: undefined, news: { length: 20 } });
  });

  test('reports a gap if there are more new events than one walk collects', async () => {
    const log = logOf(30_000);
    const { read, asked } = reader(() => log, 1_000);
    const found = await walk(read, memoryOf(logOf(20)));
    expect(found).toMatchObject({ gap: 'bound', news: { length: 20_000 } });
    expect(ids(found).at(-1)).toBe('e30000');
    expect(asked).toHaveLength(20);
  });
});
