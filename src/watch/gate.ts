/** Lets a few works run at a time; the others get their turn in the order in which they came. */
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
      // The place is handed on, so that nobody can come in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
