import type { TestContext } from 'vitest';

interface Soaked {
  readonly what: string;
  readonly played: number;
  readonly killed?: number;
}

declare module 'vitest' {
  interface TaskMeta {
    /** Rows for the last section of docs/internals/reliability.md. */
    soaked?: Soaked[];
  }
}

/** In a soak, tests run all cases. `npm test` runs a sample of some. */
export const SOAK = process.env.GPUCLOUD_SOAK !== undefined;

/** Returns the number of cases in a soak, from the environment. */
export function countOf(variable: string, full: number): number {
  const given = Number(process.env[variable] ?? full);
  return Number.isInteger(given) && given > 0 ? given : full;
}

/**
 * Returns a fixed pseudorandom sample, since a fixed step would choose the same columns of a
 * matrix.
 */
export function sample<T>(items: readonly T[], most: number): readonly T[] {
  // Uses Knuth's multiplicative hash.
  const place = (at: number) => Math.imul(at + 1, 2_654_435_761) >>> 0;
  return items
    .map((item, at) => ({ item, place: place(at) }))
    .sort((a, b) => a.place - b.place)
    .slice(0, most)
    .map(({ item }) => item);
}

/** Records the cases of a soak for docs/internals/reliability.md. */
export function record({ task }: TestContext, soaked: Soaked): void {
  if (SOAK) task.meta.soaked = [...(task.meta.soaked ?? []), soaked];
}
