/** Maximum concurrent changes. Low, since no rate limits are documented. */
export const AT_ONCE = 4;
/** Maximum concurrent reads before a change or in a wait. Low for the same reason. */
export const READS_AT_ONCE = 8;
/**
 * Maximum concurrent reads of a list: 200 instances take two round trips. A response with 429
 * delays the read.
 */
export const LISTED_AT_ONCE = 100;
/** Maximum concurrent SSH connections: 100 unreachable instances take at most two timeouts. */
export const SSH_AT_ONCE = 50;
/** Local files to read before yielding, so that signals are handled. */
export const FILES_AT_ONCE = 256;

/** Maps items, at most `limit` at a time. Returns results in the items' order. */
export async function eachBounded<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  const waiting = items.entries();
  async function worker(): Promise<void> {
    for (const [at, item] of waiting) {
      results[at] = await work(item);
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}

/** Runs a limited number of callbacks at a time; the others wait in order of arrival. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

export function createGate(limit: number): Gate {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= limit) await new Promise<void>((go) => waiting.push(go));
    else running += 1;
    try {
      return await work();
    } finally {
      // Passes the slot on directly, so that no later caller takes the slot.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
