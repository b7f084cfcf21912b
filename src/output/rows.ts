import type { Sink } from './sink.ts';

/**
 * Rows that arrive a page at a time: awaiting each of a million rows would take longer than
 * formatting them.
 */
interface Paged<T> {
  readonly pages: AsyncIterable<readonly T[]>;
}

export type Rows<T> = readonly T[] | AsyncIterable<T> | Paged<T>;

export function isArray<T>(rows: Rows<T>): rows is readonly T[] {
  return Array.isArray(rows);
}

/**
 * Passes every row to `take`, one after the other, until there are no more rows or the sink accepts
 * no more. Closes the source if it stops early.
 */
export async function eachRow<T>(
  rows: Rows<T>,
  sink: Sink,
  take: (row: T) => Promise<void> | undefined,
): Promise<void> {
  const takeAll = async (page: readonly T[]) => {
    for (const row of page) {
      const wait = take(row);
      // Awaits only a promise: `await undefined` would cost a microtask for each of a million rows.
      if (wait !== undefined) await wait;
      if (sink.ended) return;
    }
  };
  if (isArray(rows)) return takeAll(rows);
  return 'pages' in rows ? eachOf(rows.pages, sink, takeAll) : eachOf(rows, sink, take);
}

async function eachOf<T>(
  source: AsyncIterable<T>,
  sink: Sink,
  take: (one: T) => Promise<void> | undefined,
): Promise<void> {
  for await (const one of source) {
    const wait = take(one);
    if (wait !== undefined) await wait;
    if (sink.ended) return;
  }
}

/** Caches a function's result for its last argument. */
export function remembering<V, R>(work: (value: V) => R): (value: V) => R {
  let value: V | undefined;
  let result: R | undefined;
  let isFirst = true;
  return (given) => {
    if (given === value && !isFirst) return result as R;
    isFirst = false;
    value = given;
    result = work(given);
    return result;
  };
}
