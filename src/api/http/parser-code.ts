/**
 * The WebAssembly of undici's parser. Only the bundle contains it (scripts/trims.mjs puts it here);
 * undici ships two, the bundle one.
 */
export function parserCode(): Uint8Array<ArrayBuffer> | undefined {
  return undefined;
}
