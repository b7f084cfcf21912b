/** Builds the bundle once before the tests, so that no test runs an old bundle. */
export default async function setup(): Promise<void> {
  // Tests of the executable use its existing build.
  if (process.env.GPUCLOUD_PROGRAM === undefined) await import('../../scripts/build.mjs');
}
