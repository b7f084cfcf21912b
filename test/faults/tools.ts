import type { TestContext } from 'vitest';

interface Soaked {
  readonly what: string;
  readonly played: number;
  readonly killed?: number;
}

declare module 'vitest' {
  interface TaskMeta {
    /** The rows of the last section of docs/internals/reliability.md. */
    soaked?: Soaked[];
  }
}

/** Whether this is a soak, which runs everything that `npm test` samples. */
export const SOAK = process.env.GPUCLOUD_SOAK !== undefined;

/** Returns a count of the soak, from the environment. */
export function countOf(variable: string, full: number): number {
  const given = Number(process.env[variable] ?? full);
  return Number.isInteger(given) && given > 0 ? given : full;
}

/**
 * Returns a fixed sample that looks random: a fixed step would meet the same columns of a
 * matrix again and again.
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

/** Records what a soak played, for docs/internals/reliability.md. */
export function record({ task }: TestContext, soaked: Soaked): void {
  if (SOAK) task.meta.soaked = [...(task.meta.soaked ?? []), soaked];
}
