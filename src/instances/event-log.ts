import type { Api, InstanceEvent } from '../api/index.ts';
import { pagesOf } from '../api/pages.ts';
import type { Context } from '../context.ts';
import { instant } from '../output/time.ts';
import { type Moment, timeOf } from '../rules/times.ts';

/** The moment from which on events are asked for. */
export interface Beginning {
  /** Milliseconds since 1970; the same each time. To be asked once a response has come. */
  time(): number;
}

/** What `--since 10m` means to the service, whose clock wrote the times of the events. */
export function beginningAt(
  moment: Moment,
  { serviceClock }: Pick<Context, 'serviceClock'>,
): Beginning {
  let time: number | undefined;
  return {
    time() {
      time ??= timeOf(moment, serviceClock.now());
      return time;
    },
  };
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
    const from = beginning?.time() ?? Number.NEGATIVE_INFINITY;
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
