import type { LogPage, ReadPage } from '../../src/watch/log-walk.ts';

export interface TestEvent {
  readonly id: string;
  readonly created_at?: string | null;
  readonly type?: string;
  readonly instance_id?: string;
}

/** Returns the time this many seconds after `2026-01-15T12:00:00Z`. */
export function at(seconds: number): string {
  return new Date(Date.parse('2026-01-15T12:00:00Z') + seconds * 1000).toISOString();
}

/** Returns an event at that second. */
export function event(id: string, seconds: number, type = 'INFO'): TestEvent {
  return { id, created_at: at(seconds), type };
}

/** Returns `count` events, one per second, newest first. */
export function logOf(count: number): readonly TestEvent[] {
  const log =
    LOGS.get(count) ??
    Array.from({ length: count }, (_, index) => event(`e${count - index}`, count - index));
  LOGS.set(count, log);
  return log;
}

const LOGS = new Map<number, readonly TestEvent[]>();

export function pageOf(events: readonly TestEvent[], page: number, limit: number) {
  const total_pages = Math.ceil(events.length / limit);
  const data = events.slice((page - 1) * limit, page * limit);
  return { data, meta: { total: events.length, limit, total_pages } } satisfies LogPage<TestEvent>;
}

/** Returns a reader that records the requested pages. */
export function reader(
  log: () => readonly TestEvent[],
  limit = 10,
): { read: ReadPage<TestEvent>; asked: number[] } {
  const asked: number[] = [];
  return {
    asked,
    async read(page) {
      asked.push(page);
      return pageOf(log(), page, limit);
    },
  };
}
