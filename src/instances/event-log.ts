import type { Api, InstanceEvent } from '../api/index.ts';
import { pagesOf } from '../api/pages.ts';
import type { Context } from '../context.ts';
import { lazy } from '../lazy.ts';
import { instant } from '../output/time.ts';
import { type Moment, timeOf } from '../rules/times.ts';

/** Start of the requested events, in milliseconds since 1970. Call it after a response has come. */
export type Beginning = () => number;

/** Converts `--since 10m` to the service's clock, which event times use. */
export function beginningAt(
  moment: Moment,
  { serviceClock }: Pick<Context, 'serviceClock'>,
): Beginning {
  return lazy(() => timeOf(moment, serviceClock.now()));
}

/** The walk stops after this many events from before the start, since a few may be out of order. */
const BEFORE_THE_BEGINNING = 10;

/**
 * How many IDs to remember, to recognize repeated events: more than a log gains between two pages.
 */
const REMEMBERED = 10_000;

/**
 * Yields a log page by page, newest first, until its start. New events push older ones onto the next
 * page, so repeated ones are dropped. If the log is pruned during the walk, the empty page ends it.
 */
export async function* eachEvent(
  api: Api,
  id: string,
  limit: number,
  beginning: Beginning | undefined,
): AsyncGenerator<InstanceEvent> {
  let seen = new Set<string>();
  let older = new Set<string>();
  let before = 0;
  const read = (page: number) => api.instances.events(id, { page, limit });
  for await (const { page } of pagesOf(read)) {
    const from = beginning?.() ?? Number.NEGATIVE_INFINITY;
    for (const event of page.data) {
      if (seen.has(event.id) || older.has(event.id)) continue;
      if (seen.size >= REMEMBERED) [seen, older] = [new Set(), seen];
      seen.add(event.id);
      const isBefore = (instant(event.created_at) ?? Number.POSITIVE_INFINITY) < from;
      before = isBefore ? before + 1 : 0;
      if (!isBefore) yield event;
    }
    if (before >= BEFORE_THE_BEGINNING) return;
  }
}
