import type { Api, InstanceEvent } from '../api/index.ts';
import { pagesOf } from '../api/pages.ts';
import type { Context } from '../context.ts';
import { lazy } from '../lazy.ts';
import { instant } from '../output/time.ts';
import { type Moment, timeOf } from '../rules/times.ts';

/** Milliseconds since 1970 from which on events are asked for. To be called once a response has come. */
export type Beginning = () => number;

/** What `--since 10m` means to the service, whose clock wrote the times of the events. */
export function beginningAt(
  moment: Moment,
  { serviceClock }: Pick<Context, 'serviceClock'>,
): Beginning {
  return lazy(() => timeOf(moment, serviceClock.now()));
}

/** So many events from before the beginning say that no others come; a few may be late ones. */
const BEFORE_THE_BEGINNING = 10;

/**
 * Reads a log page after page, newest first, back to its beginning. Events that arrive in the
 * meantime push older ones onto the next page, so those seen before are left out. A log that is
 * pruned in the meantime ends the walk on its empty page.
 */
export async function* eachEvent(
  api: Api,
  id: string,
  limit: number,
  beginning: Beginning | undefined,
): AsyncGenerator<InstanceEvent> {
  const seen = new Set<string>();
  let before = 0;
  const read = (page: number) => api.instances.events(id, { page, limit });
  for await (const { page } of pagesOf(read)) {
    const from = beginning?.() ?? Number.NEGATIVE_INFINITY;
    for (const event of page.data) {
      if (seen.has(event.id)) continue;
      seen.add(event.id);
      const isBefore = (instant(event.created_at) ?? Number.POSITIVE_INFINITY) < from;
      before = isBefore ? before + 1 : 0;
      if (!isBefore) yield event;
    }
    if (before >= BEFORE_THE_BEGINNING) return;
  }
}
