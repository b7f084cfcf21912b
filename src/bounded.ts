/** Does the same for each item, at most `limit` at a time, and answers in the items' order. */
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
