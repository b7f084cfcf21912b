import type { Sink } from './sink.ts';

export type Rows<T> = readonly T[] | AsyncIterable<T>;

export function isArray<T>(rows: Rows<T>): rows is readonly T[] {
  return Array.isArray(rows);
}

/**
 * Hands every row to `take`, one after the other, until there are no more or the sink has ended. A
 * source that is left early is told to stop; one that is busy with a request is not waited for.
 */
export async function eachRow<T>(
  rows: Rows<T>,
  sink: Sink,
  take: (row: T) => Promise<void> | undefined,
): Promise<void> {
  if (isArray(rows)) {
    for (const row of rows) {
      const wait = take(row);
      // Awaiting nothing would cost a turn of the queue for each of a million rows.
      if (wait !== undefined) await wait;
      if (sink.ended) return;
    }
    return;
  }
  const source = rows[Symbol.asyncIterator]();
  let left: 'done' | 'idle' | 'busy' = 'idle';
  try {
    while (!sink.ended) {
      left = 'busy';
      const next = await nextUnlessEnded(source, sink);
      if (next === undefined) return;
      left = next.done ? 'done' : 'idle';
      if (next.done) return;
      await take(next.value);
    }
  } catch (error) {
    if (left === 'busy') left = 'done';
    throw error;
  } finally {
    if (left !== 'done') {
      const stopped = Promise.resolve(source.return?.()).catch(() => undefined);
      if (left === 'idle') await stopped;
    }
  }
}

/**
 * The next row, or undefined as soon as the sink ends: a reader who has gone must not wait for an
 * event that may never come. (Promise.race would keep a reaction for every row alive.)
 */
function nextUnlessEnded<T>(
  source: AsyncIterator<T>,
  sink: Sink,
): Promise<IteratorResult<T, unknown> | undefined> {
  return new Promise((resolve, reject) => {
    const forget = sink.onEnd(() => resolve(undefined));
    source.next().then(resolve, reject).finally(forget);
  });
}
