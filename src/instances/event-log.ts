import type { Api, InstanceEvent } from '../api/index.ts';
import { pagesOf } from '../api/pages.ts';
import type { Context } from '../context.ts';
import { lazy } from '../lazy.ts';
import { instant } from '../output/time.ts';
import { type Moment, timeOf } from '../rules/times.ts';

/**
 * Returns the start of the requested events in milliseconds since 1970. Call it after the first
 * response.
 */
export type Beginning = () => number;

/** Converts `--since 10m` to service time, since events have service times. */
export function beginningAt(
  moment: Moment,
  { serviceClock }: Pick<Context, 'serviceClock'>,
): Beginning {
  return lazy(() => timeOf(moment, serviceClock.now()));
}

/**
 * Stops after this many consecutive events from before the start, since a few may be out of order.
 */
const BEFORE_THE_BEGINNING = 10;

/**
 * Yields a log page by page, newest first, back to its start, each event once. Throws at its end if
 * events are missing.
 */
export async function* eachEvent(
  api: Api,
  id: string,
  limit: number,
  beginning: Beginning | undefined,
): AsyncGenerator<InstanceEvent> {
  let before = 0;
  const read = (page: number) => api.instances.events(id, { page, limit });
  for await (const { fresh } of pagesOf(read, { what: 'events' })) {
    const from = beginning?.() ?? Number.NEGATIVE_INFINITY;
    for (const event of fresh) {
      const isBefore = (instant(event.created_at) ?? Number.POSITIVE_INFINITY) < from;
      before = isBefore ? before + 1 : 0;
      if (!isBefore) yield event;
    }
    if (before >= BEFORE_THE_BEGINNING) return;
  }
}
