/**
 * Keeps V8's room for new objects as small as it is. V8 doubles it whenever as much as it holds has
 * lived for a moment, up to 16 MiB, of which it keeps two: that suits a program which makes ever
 * more, and not one that reads page after page and keeps none. A million rows take 20 MiB less, and
 * no longer.
 *
 * On Node 20 alone: the flag works there at any time, and is nothing that V8 promises.
 *
 * @param nodeVersion as `v20.20.2`.
 * @returns what is to be called at the end: under other flags than its own V8 refuses the code that
 *   was kept of the program.
 */
export async function holdYoungRoom(nodeVersion: string | undefined): Promise<() => void> {
  if (nodeVersion?.startsWith('v20.') !== true) return () => undefined;
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--semi-space-growth-factor=1');
  return () => setFlagsFromString('--semi-space-growth-factor=2');
}
