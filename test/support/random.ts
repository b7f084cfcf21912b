import fc from 'fast-check';

/** Seed of every random test. vitest.config.mts picks one per run unless it is set. */
const SEED = Number(process.env.GPUCLOUD_SEED);
if (!Number.isInteger(SEED)) throw new Error('GPUCLOUD_SEED must be a whole number');

fc.configureGlobal({ seed: SEED });

export { fc };

/**
 * Generates any characters except halves of surrogate pairs. Like `fc.string({ unit: 'binary' })`,
 * which first takes seconds to list all characters.
 */
export function anyText(lengths: { minLength?: number; maxLength?: number } = {}) {
  const surrogates = 0x800;
  const unit = fc
    .integer({ min: 0, max: 0x10ffff - surrogates })
    .map((at) => String.fromCodePoint(at < 0xd800 ? at : at + surrogates));
  return fc.string({ unit, ...lengths });
}

/** `npm test` tries some of the random values; `npm run test:all` and the soak try all of them. */
const isWhole = process.env.GPUCLOUD_FUZZ !== undefined || process.env.GPUCLOUD_SOAK !== undefined;

/** Returns how many random values to try. */
export function runs(whole: number, part = Math.ceil(whole / 4)): number {
  return isWhole ? whole : part;
}

/** Returns some cases of a long list. The choice depends on the seed and the list. */
export function some<T>(cases: readonly T[], list = 0): readonly T[] {
  const every = isWhole ? 1 : 4;
  return cases.filter((_case, at) => (at + list + SEED) % every === 0);
}

/**
 * Returns the even or the odd cases, depending on the seed; all cases with GPUCLOUD_FUZZ or
 * GPUCLOUD_SOAK.
 */
export function half<T>(cases: readonly T[]): readonly T[] {
  return cases.filter((_case, at) => isWhole || (at + SEED) % 2 === 0);
}

/** Returns random numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomNumbers(seed = SEED): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
