/** Remembers at least the last `least` texts, and at most twice as many, however many come. */
export interface Memory {
  has(text: string): boolean;
  add(text: string): void;
}

/** Two generations: to drop the oldest of one large Set one by one would take quadratic time. */
export function createMemory(least: number): Memory {
  let young = new Set<string>();
  let old = new Set<string>();
  return {
    has: (text) => young.has(text) || old.has(text),
    add(text) {
      young.add(text);
      if (young.size >= least) {
        old = young;
        young = new Set();
      }
    },
  };
}
