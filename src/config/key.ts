import type { Profile } from './file.ts';

/** Where a profile's key is stored. */
export type KeyPlace =
  /** In config.json itself. */
  | { readonly kind: 'file'; readonly key: string }
  /** In the system's keyring, under this account of the service `gpucloud`. */
  | { readonly kind: 'keyring'; readonly entry: string }
  /** In a password manager, which prints the key on request. */
  | { readonly kind: 'command'; readonly argv: readonly string[] };

export const STORES = ['keyring', 'file', 'command'] as const;
export type Store = (typeof STORES)[number];

/**
 * Reads where a profile's key is stored; undefined without a key. Nothing else reads these fields.
 */
export function keyPlace(profile: Profile | undefined): KeyPlace | undefined {
  const { api_key: key, keyring: entry, key_command: argv }: Partial<Profile> = profile ?? {};
  if (key !== undefined) return { kind: 'file', key };
  if (entry !== undefined) return { kind: 'keyring', entry };
  return argv === undefined ? undefined : { kind: 'command', argv };
}

/** The profile fields that locate its key. */
export function keyFields(
  place: KeyPlace | undefined,
): Pick<Profile, 'api_key' | 'keyring' | 'key_command'> {
  switch (place?.kind) {
    case 'file':
      return { api_key: place.key };
    case 'keyring':
      return { keyring: place.entry };
    case 'command':
      return { key_command: [...place.argv] };
    default:
      return {};
  }
}

export function samePlace(one: KeyPlace | undefined, other: KeyPlace | undefined): boolean {
  return JSON.stringify(keyFields(one)) === JSON.stringify(keyFields(other));
}
