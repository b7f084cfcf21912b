import fc from 'fast-check';

/** The seed of every random test; vitest.config.mts chooses one for each run unless it is given. */
const SEED = Number(process.env.GPUCLOUD_SEED);
if (!Number.isInteger(SEED)) throw new Error('GPUCLOUD_SEED must be a whole number');

fc.configureGlobal({ seed: SEED });

export { fc };

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
