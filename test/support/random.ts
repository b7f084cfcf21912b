import fc from 'fast-check';

/** The seed of every random test; vitest.config.mts chooses one per run unless it is set. */
const SEED = Number(process.env.GPUCLOUD_SEED);
if (!Number.isInteger(SEED)) throw new Error('GPUCLOUD_SEED must be a whole number');

fc.configureGlobal({ seed: SEED });

export { fc };

/**
 * Any characters but halves of surrogate pairs. Like `fc.string({ unit: 'binary' })`, which first
 * takes seconds to list all of them.
 */
export function anyText(lengths: { minLength?: number; maxLength?: number } = {}) {
  const surrogates = 0x800;
  const unit = fc
    .integer({ min: 0, max: 0x10ffff - surrogates })
    .map((at) => String.fromCodePoint(at < 0xd800 ? at : at + surrogates));
  return fc.string({ unit, ...lengths });
}

/** `npm test` tries some of the random values; `npm run test:all` and the soak try all. */
const isWhole = process.env.GPUCLOUD_FUZZ !== undefined || process.env.GPUCLOUD_SOAK !== undefined;

/** Returns how many random values to try. */
export function runs(whole: number, part = Math.ceil(whole / 4)): number {
  return isWhole ? whole : part;
}

/** Returns some cases of a long list, different for each seed and each list. */
export function some<T>(cases: readonly T[], list = 0): readonly T[] {
  const every = isWhole ? 1 : 4;
  return cases.filter((_case, at) => (at + list + SEED) % every === 0);
}

/** Returns every second case, in turn with the seed; all with GPUCLOUD_FUZZ. */
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
