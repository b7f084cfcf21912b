import type { ApiKey } from '../api/index.ts';
import type { Context } from './contract.ts';

/** A key, and whether this very command uses it. */
export type MarkedKey = Partial<ApiKey> & {
  /** null if several keys have the same prefix. */
  readonly in_use: boolean | null;
};

/**
 * Marks the key with the longest matching prefix; null if several prefixes of that length match.
 */
export async function marked(keys: readonly ApiKey[], context: Context): Promise<MarkedKey[]> {
  const inUse = await keyInUse(context);
  const lengths = keys.map((key) => fittingLength(key, inUse));
  const longest = Math.max(0, ...lengths);
  const isShared = lengths.filter((length) => length === longest).length > 1;
  return keys.map((key, at) => {
    const fits = longest > 0 && lengths[at] === longest;
    return { ...key, in_use: fits && isShared ? null : fits };
  });
}

async function keyInUse(context: Context): Promise<string | undefined> {
  const { sandbox, apiKey } = await context.settings();
  if (!sandbox) return apiKey?.value;
  return (await context.sandbox()).apiKey();
}

/** Length of the matching prefix that the service shows; 0 for another key. */
function fittingLength({ key_prefix }: ApiKey, inUse: string | undefined): number {
  // "the list form may end with an ellipsis" (API document: Resources, API key).
  const beginning = (key_prefix ?? '').replace(/[.…*]+$/, '');
  return inUse?.startsWith(beginning) === true ? beginning.length : 0;
}
