/**
 * Returns the WebAssembly of undici's parser in the bundle, where scripts/trims.mjs inserts it.
 * undici ships it twice; the bundle has one of them.
 */
export function parserCode(): Uint8Array<ArrayBuffer> | undefined {
  return undefined;
}
