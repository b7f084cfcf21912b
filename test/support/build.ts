/** Builds the bundle once before the tests, so that those of the built program never see an old one. */
export default async function setup(): Promise<void> {
  await import('../../scripts/build.mjs');
}
