import fc from 'fast-check';

/** Seed of every random test. vitest.config.mts picks one per run unless it is set. */
const SEED = Number(process.env.GPUCLOUD_SEED);
if (!Number.isInteger(SEED)) throw new Error('GPUCLOUD_SEED must be a whole number');

fc.configureGlobal({ seed: SEED });

export { fc };

/**
 * Generates any characters except lone surrogates. Replaces `fc.string({ unit: 'binary' })`, which
 * takes seconds to list all characters.
 */
export function anyText(lengths: { minLength?: number; maxLength?: number } = {}) {
  const surrogates = 0x800;
  const unit = fc
    .integer({ min: 0, max: 0x10ffff - surrogates })
    .map((at) => String.fromCodePoint(at < 0xd800 ? at : at + surrogates));
  return fc.string({ unit, ...lengths });
}

const isSoak = process.env.GPUCLOUD_SOAK !== undefined;
/** `npm test` tries some of the random values; `npm run test:all` and the soak try all, except {@link fewer}. */
const isWhole = process.env.GPUCLOUD_FUZZ !== undefined || isSoak;

/** Returns how many random values to try. */
export function runs(whole: number, part = Math.ceil(whole / 4)): number {
  return isWhole ? whole : part;
}

/** Returns some cases of a long list. The choice depends on the seed and the list. */
export function some<T>(cases: readonly T[], list = 0): readonly T[] {
  return oneIn(isWhole ? 1 : 4, cases, list);
}

/**
 * Like {@link some}, for long tests: `npm run test:all` takes one case in `every`, and the soak all.
 */
export function fewer<T>(cases: readonly T[], list = 0, every = 2): readonly T[] {
  return oneIn(isSoak ? 1 : isWhole ? every : 4, cases, list);
}

function oneIn<T>(every: number, cases: readonly T[], list: number): readonly T[] {
  return cases.filter((_case, at) => (at + list + SEED) % every === 0);
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
