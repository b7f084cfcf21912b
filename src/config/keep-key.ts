import { CliError, ensureCliError } from '../errors.ts';
import type { WarningCode } from '../warnings.ts';
import {
  type ConfigFile,
  type KeyPlace,
  keyPlace,
  profileOf,
  type Store,
  samePlace,
} from './file.ts';
import type { Keys } from './keys.ts';
import type { Config } from './store.ts';

/** A key to store for a profile. */
export interface NewKey {
  readonly profile: string;
  readonly key: string;
  /** Where to store the key; undefined selects the keyring if there is one, otherwise the file. */
  readonly store: Store | undefined;
  /** Password manager command that prints the key. */
  readonly command?: readonly string[] | undefined;
}

export interface KeptKey {
  readonly file: ConfigFile;
  readonly place: KeyPlace;
  /** Why the key was stored in the file instead of the keyring. */
  readonly noKeyring?: CliError;
}

/** Context fields needed to store a key. */
interface KeyStores {
  config(): Promise<Config>;
  keys(): Promise<Keys>;
  readonly err: { warn(code: WarningCode, text: string): void };
}

/**
 * Stores a key, then writes its place to the config file. Keeps the replaced key until the file is
 * written. Removes a new keyring entry if no profile refers to it.
 *
 * Throws CliError('storage') if a requested keyring can't store it.
 */
export async function keepKey(
  wanted: NewKey,
  edit: (file: ConfigFile, place: KeyPlace) => ConfigFile,
  stores: KeyStores,
): Promise<KeptKey> {
  const { profile } = wanted;
  const stored = await storeKey(wanted, stores);
  let before: KeyPlace | undefined;
  let file: ConfigFile;
  try {
    file = await (await stores.config()).change((now) => {
      before = keyPlace(profileOf(now, profile));
      return edit(now, stored.place);
    });
  } catch (error) {
    await forgetKey(profile, stored.place, stores);
    throw error;
  }
  if (!samePlace(before, stored.place)) await forgetKey(profile, before, stores);
  return { file, ...stored };
}

/** Edits the config file, then removes the profile's previous key. Returns the edited file. */
export async function dropKey(
  profile: string,
  edit: (file: ConfigFile) => ConfigFile,
  { config, keys }: Pick<KeyStores, 'config' | 'keys'>,
): Promise<ConfigFile> {
  let place: KeyPlace | undefined;
  const file = await (await config()).change((now) => {
    place = keyPlace(profileOf(now, profile));
    return edit(now);
  });
  await (await keys()).remove(profile, place);
  return file;
}

async function storeKey(
  { profile, key, store, command }: NewKey,
  { keys }: KeyStores,
): Promise<Omit<KeptKey, 'file'>> {
  if (command !== undefined) return { place: { kind: 'command', argv: command } };
  if (store === 'file') return { place: { kind: 'file', key } };
  try {
    return { place: await (await keys()).putIntoKeyring(profile, key) };
  } catch (error) {
    if (store === 'keyring' || !(error instanceof CliError) || error.failure !== 'storage') {
      throw error;
    }
    return { place: { kind: 'file', key }, noKeyring: error };
  }
}

/** Removes an unused key; warns on failure. */
async function forgetKey(
  profile: string,
  place: KeyPlace | undefined,
  { keys, err }: KeyStores,
): Promise<void> {
  try {
    await (await keys()).remove(profile, place);
  } catch (error) {
    ensureCliError(error);
    err.warn('local_storage', [error.message, error.hint].filter(Boolean).join(' '));
  }
}
