import { instant } from '../../src/output/time.ts';
import type { MakeFollower } from './following.ts';
import type { SimulatedEvent } from './simulated-log.ts';

type Pages = AsyncGenerator<readonly SimulatedEvent[]>;

async function* pagesOf({ read }: Pick<Parameters<MakeFollower>[0], 'read'>): Pages {
  for (let page = 1; ; page += 1) {
    const { data, meta } = await read(page);
    yield data;
    if (data.length === 0 || page >= meta.total_pages) return;
  }
}

type Parts = Parameters<MakeFollower>[0];

/** Builds a follower that remembers the events that `look` returns. */
function wrongFollower(
  { cursor }: Parts,
  look: () => Promise<SimulatedEvent[]>,
): ReturnType<MakeFollower> {
  return {
    hasStarted: () => true,
    async look() {
      const news = await look();
      cursor.begin();
      return { news: news.map((event) => dated(event)), gap: undefined };
    },
    take: (events) => cursor.learn(events),
  };
}

const dated = (event: SimulatedEvent) => ({
  id: event.id,
  event,
  time: instant(event.created_at) ?? 0,
});

/** Never reads page 2. */
const firstPageOnly: MakeFollower = (parts) =>
  wrongFollower(parts, async () => {
    const { data } = await parts.read(1);
    return data.filter(({ id }) => !parts.cursor.has(id)).reverse();
  });

/** Ignores events that are not newer than the newest known event. */
const timeWatermark: MakeFollower = (parts) => {
  const watermark = () => Math.max(0, ...parts.cursor.saved().known.map(([, time]) => time));
  return wrongFollower(parts, async () => {
    const mark = watermark();
    const news = new Map<string, SimulatedEvent>();
    for await (const page of pagesOf(parts)) {
      for (const event of page) if (dated(event).time > mark) news.set(event.id, event);
      if (page.some((event) => dated(event).time <= mark)) break;
    }
    return [...news.values()].reverse();
  });
};

/** Returns the events of a walk, newest first, even if the walk fails. */
const printsWhileWalking: MakeFollower = (parts) => {
  const follower = wrongFollower(parts, async () => {
    const news = new Map<string, SimulatedEvent>();
    try {
      for await (const page of pagesOf(parts)) {
        for (const event of page) if (!parts.cursor.has(event.id)) news.set(event.id, event);
        if (page.every(({ id }) => parts.cursor.has(id))) break;
      }
    } catch (error) {
      if (news.size === 0) throw error;
    }
    return [...news.values()];
  });
  return {
    ...follower,
    async look() {
      const { news } = await follower.look();
      // Returns events in the order of the reads, whatever their times.
      return { news: news.map((one, at) => ({ ...one, time: at })), gap: undefined };
    },
    take: (events) => parts.cursor.learn(events.map(({ event }) => dated(event))),
  };
};

/** Stops at the first known event. */
const stopsAtFirstKnown: MakeFollower = (parts) =>
  wrongFollower(parts, async () => {
    const news = new Map<string, SimulatedEvent>();
    for await (const page of pagesOf(parts)) {
      for (const event of page) {
        if (parts.cursor.has(event.id)) return [...news.values()].reverse();
        news.set(event.id, event);
      }
    }
    return [...news.values()].reverse();
  });

/** Maps each wrong follower to the complaint that it must cause. */
export const WRONG_FOLLOWERS: readonly (readonly [string, MakeFollower, RegExp])[] = [
  ['reads the first page only', firstPageOnly, /lost/],
  ["uses the newest event's time as its watermark", timeWatermark, /lost/],
  ['prints while it walks', printsWhileWalking, /out of order/],
  ['stops at the first known event', stopsAtFirstKnown, /lost/],
];
