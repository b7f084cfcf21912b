/** The stages at which the instances of a run wait for each other, in order. */
const STAGES = ['held', 'rented', 'ready', 'fetched', 'over'] as const;

/** Keeps the instances of a run in step. */
export interface Pace {
  /** Resolves once each instance has reached the stage or a later one. */
  reach(name: string, stage: (typeof STAGES)[number]): Promise<void>;
}

export function createPace(names: readonly string[]): Pace {
  const members = names.map((name) => ({ name, at: -1 }));
  const waiting: { readonly at: number; go(): void }[] = [];
  return {
    reach(name, stage) {
      const at = STAGES.indexOf(stage);
      for (const one of members) if (one.name === name) one.at = Math.max(at, one.at);
      const all = new Promise<void>((go) => waiting.push({ at, go }));
      const slowest = Math.min(...members.map((one) => one.at));
      for (const one of waiting) if (one.at <= slowest) one.go();
      return all;
    },
  };
}
