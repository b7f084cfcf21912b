/** Builds the bundle before the tests, so that no test runs an old bundle. */
export default async function setup(): Promise<void> {
  // Tests of the executable use its existing build, and scripts/test-all.sh builds once for all its runs.
  const { GPUCLOUD_PROGRAM, GPUCLOUD_BUILT } = process.env;
  if ((GPUCLOUD_PROGRAM ?? GPUCLOUD_BUILT) === undefined) await import('../../scripts/build.mjs');
}
