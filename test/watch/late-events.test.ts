import { describe, expect, test } from 'vitest';
import { createCursor } from '../../src/watch/cursor.ts';
import { createFollower } from '../../src/watch/follower.ts';
import { manualClock } from '../support/clock.ts';
import { event, logOf, reader } from './pages.ts';
import { type Happening, type SimulatedEvent, SimulatedLog } from './simulated-log.ts';

/** A small limit: the follower remembers at most twice as many events. */
const KEPT = 20;
const PAGE = 10;

const arrive = (count: number): Happening => ({ kind: 'arrive', count, later: 1 });
const late = (depth: number): Happening => ({ kind: 'late', depth, tie: false });

/**
 * Follows a log of 30 events, with two seconds and one step between reads. After each read, moves
 * the wall clock by `set` milliseconds.
 */
async function followed(
  steps: readonly (readonly Happening[])[],
  totalOf: (total: number, look: number) => number = (total) => total,
  set = 0,
  isSweep = (_look: number): boolean | undefined => undefined,
) {
  const log = new SimulatedLog('a', PAGE);
  log.happen(arrive(30));
  const clock = manualClock();
  let pages = 0;
  const pagesOf: number[] = [];
  const follower = createFollower<SimulatedEvent>({
    cursor: createCursor(undefined, { kept: KEPT }),
    clock,
    async read(number) {
      pages += 1;
      const page = log.page(number);
      return { ...page, meta: { ...page.meta, total: totalOf(page.meta.total, pagesOf.length) } };
    },
  });
  const printed = new Set<string>();
  for (const step of [[], ...steps]) {
    for (const what of step) log.happen(what);
    pages = 0;
    const sweeps = isSweep(pagesOf.length);
    const look = await follower.look(sweeps === undefined ? {} : { isSweep: sweeps });
    pagesOf.push(pages);
    for (const { id } of look.news) printed.add(id);
    follower.take(look.news);
    clock.advance(2_000);
    clock.step(set);
  }
  const lost = log.events.filter(({ id }) => !printed.has(id));
  return { lost, pagesOf };
}

describe('an event that enters the log late', () => {
  test('finds a late event in the next read despite many newer events', async () => {
    const { lost } = await followed([[late(18), arrive(45)], [arrive(45)]]);
    expect(lost).toEqual([]);
  });

  test('finds a late event in a busy log whose total never changes', async () => {
    const steps = [[late(16)], ...Array.from({ length: 12 }, () => [arrive(6)])];
    const { lost } = await followed(steps, () => 1_000);
    expect(lost).toEqual([]);
  });

  test.each([-2_000, -26 * 3_600_000, 26 * 3_600_000])(
    'finds a late event in the same read if the clock jumps by %i ms',
    async (step) => {
      const steps = [[late(16)], ...Array.from({ length: 40 }, () => [])];
      const { lost, pagesOf } = await followed(steps, () => 1_000, step);
      expect(lost).toEqual([]);
      // Deep reads, which go past the first page, are a minute apart.
      const deep = pagesOf.flatMap((pages, look) => (pages > 1 && look > 0 ? look : []));
      expect(deep).toEqual([30]);
    },
  );

  test('reads deep when asked to, and a minute after that', async () => {
    const steps = Array.from({ length: 35 }, () => []);
    const { pagesOf } = await followed(steps, undefined, 0, (look) => look === 3);
    expect(pagesOf.flatMap((pages, look) => (pages > 1 ? [[look, pages]] : []))).toEqual([
      [0, 3],
      [3, 2],
      [33, 2],
    ]);
  });

  test('does not read extra pages before a late event arrives', async () => {
    const { pagesOf } = await followed([[], [arrive(3)], [], []]);
    // Three new and ten known events fill two pages.
    expect(pagesOf.slice(1)).toEqual([1, 2, 1, 1]);
  });
});

const START = Date.parse('2026-01-15T12:00:00Z');

test('searches for late events when asked, and else once a minute', async () => {
  const log = logOf(100);
  const cursor = createCursor(undefined, { kept: KEPT });
  const clock = manualClock();
  const { read, asked } = reader(() => log, PAGE);
  const follower = createFollower({ read, cursor, clock });
  const pages = async (how?: { isSweep: boolean }, later = 0) => {
    clock.advance(later);
    const before = asked.length;
    const { news } = await follower.look(how);
    follower.take(news);
    return asked.length - before;
  };
  expect(follower.hasStarted()).toBe(false);
  expect(await pages()).toBe(10);
  expect(follower.hasStarted()).toBe(true);
  const shown = [
    [await pages(), await pages({ isSweep: false }), await pages({ isSweep: true })],
    [await pages(undefined, 59_999), await pages(undefined, 1), await pages(undefined, 59_999)],
    [await pages({ isSweep: true }), await pages(undefined, 59_999), await pages(undefined, 1)],
  ];
  expect(shown).toEqual([
    [1, 1, 2],
    [1, 2, 1],
    [2, 1, 2],
  ]);
});

test.each([
  [undefined, 100, 0],
  [98, 3, 17],
  [101, 0, 10],
])(
  'begins at second %j of a log: %i events, and knows %i older ones',
  async (second, news, older) => {
    const cursor = createCursor(undefined, { kept: KEPT });
    const since = second === undefined ? {} : { since: () => START + second * 1000 };
    let log = logOf(100);
    const { read } = reader(() => log, PAGE);
    const follower = createFollower({ read, cursor, clock: manualClock(), ...since });
    const first = await follower.look();
    expect([first.news.length, cursor.size]).toEqual([news, older]);
    follower.take(first.news);
    log = [event('new', 50), ...log];
    const ids = (await follower.look()).news.map(({ id }) => id);
    expect(ids).toEqual([]);
    log = [event('newer', 100.5), ...log];
    expect((await follower.look()).news.map(({ id }) => id)).toEqual(['newer']);
  },
);
