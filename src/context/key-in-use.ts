import type { ApiKey } from '../api/index.ts';
import type { Context } from './contract.ts';

/** A key, marked if this command uses it. */
export type MarkedKey = Partial<ApiKey> & {
  /** Null if several keys have the same prefix. */
  readonly in_use: boolean | null;
};

/** Marks the key with the longest matching prefix. Marks null if several keys match equally. */
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

/** Returns how many characters of the shown prefix match; 0 for another key. */
function fittingLength({ key_prefix }: ApiKey, inUse: string | undefined): number {
  // "the list form may end with an ellipsis" (API document: Resources, API key).
  const beginning = (key_prefix ?? '').replace(/[.…*]+$/, '');
  return inUse?.startsWith(beginning) === true ? beginning.length : 0;
}
