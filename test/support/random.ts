import fc from 'fast-check';

/** The seed of every random test; vitest.config.mts chooses one for each run unless it is given. */
const SEED = Number(process.env.GPUCLOUD_SEED);
if (!Number.isInteger(SEED)) throw new Error('GPUCLOUD_SEED must be a whole number');

fc.configureGlobal({ seed: SEED });

export { fc };

/** `npm test` tries a part of the random values; `npm run test:all` and the soak try all. */
const isWhole = process.env.GPUCLOUD_FUZZ !== undefined || process.env.GPUCLOUD_SOAK !== undefined;

/** How many random values to try. */
export function runs(whole: number): number {
  return isWhole ? whole : Math.ceil(whole / 4);
}

/** Some of the cases of a long list; other ones for each seed, and for each of several lists. */
export function some<T>(cases: readonly T[], list = 0): readonly T[] {
  const every = isWhole ? 1 : 4;
  return cases.filter((_case, at) => (at + list + SEED) % every === 0);
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomNumbers(seed = SEED): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
