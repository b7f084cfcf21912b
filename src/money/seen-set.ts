/** Remembers at least the last `least` texts, and at most twice as many, however many come. */
export interface SeenSet {
  /** Remembers a text; returns whether it was new. */
  add(text: string): boolean;
}

/** Two generations: dropping the oldest of one large set one by one would take quadratic time. */
export function createSeenSet(least: number): SeenSet {
  let young = new Set<string>();
  let old = new Set<string>();
  return {
    add(text) {
      if (young.has(text) || old.has(text)) return false;
      young.add(text);
      if (young.size >= least) {
        old = young;
        young = new Set();
      }
      return true;
    },
  };
}
