import type { TestContext } from 'vitest';

interface Soaked {
  readonly what: string;
  readonly played: number;
  readonly killed?: number;
}

declare module 'vitest' {
  interface TaskMeta {
    /** Rows of the last section of docs/internals/reliability.md. */
    soaked?: Soaked[];
  }
}

/** A soak runs all of what `npm test` runs a sample of. See docs/internals/reliability.md. */
export const SOAK = process.env.GPUCLOUD_SOAK !== undefined;

/** A count of the soak, from the environment. */
export function countOf(variable: string, full: number): number {
  const given = Number(process.env[variable] ?? full);
  return Number.isInteger(given) && given > 0 ? given : full;
}

/**
 * Some of a list, always the same ones, spread as by chance: a fixed step would meet the same
 * columns of a matrix over and over.
 */
export function sample<T>(items: readonly T[], most: number): readonly T[] {
  // Knuth's multiplicative hash.
  const place = (at: number) => Math.imul(at + 1, 2_654_435_761) >>> 0;
  return items
    .map((item, at) => ({ item, place: place(at) }))
    .sort((a, b) => a.place - b.place)
    .slice(0, most)
    .map(({ item }) => item);
}

/** Records what a soak has played, for docs/internals/reliability.md. */
export function record({ task }: TestContext, soaked: Soaked): void {
  if (SOAK) task.meta.soaked = [...(task.meta.soaked ?? []), soaked];
}
