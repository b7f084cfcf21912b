/**
 * The WebAssembly of undici's parser. It is in the bundle alone (scripts/trims.mjs puts it here),
 * where undici brings one of its two.
 */
export function parserCode(): Uint8Array<ArrayBuffer> | undefined {
  return undefined;
}
