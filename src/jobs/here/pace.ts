/** The stages at which the instances of a run wait for each other, in order. */
const STAGES = ['held', 'rented', 'ready', 'fetched', 'over'] as const;

/** Keeps the instances of a run in step. */
export interface Pace {
  /** Resolves once each instance has reached the stage or a later one. */
  reach(name: string, stage: (typeof STAGES)[number]): Promise<void>;
}

export function createPace(names: readonly string[]): Pace {
  const reached = new Map(names.map((name) => [name, -1]));
  const waiting: { readonly at: number; go(): void }[] = [];
  return {
    reach(name, stage) {
      const at = STAGES.indexOf(stage);
      reached.set(name, Math.max(at, reached.get(name) ?? -1));
      const all = new Promise<void>((go) => waiting.push({ at, go }));
      const slowest = Math.min(...reached.values());
      for (const one of waiting) if (one.at <= slowest) one.go();
      return all;
    },
  };
}
