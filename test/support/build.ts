/** Builds the bundle once before the tests, so that none runs an old one. */
export default async function setup(): Promise<void> {
  // Tests of the executable don't build it.
  if (process.env.GPUCLOUD_PROGRAM === undefined) await import('../../scripts/build.mjs');
}
