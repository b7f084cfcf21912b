/**
 * Holds the WebAssembly of undici's parser in the bundle only (scripts/trims.mjs inserts it).
 * undici ships two builds of it, the bundle one.
 */
export function parserCode(): Uint8Array<ArrayBuffer> | undefined {
  return undefined;
}
