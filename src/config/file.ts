import { SANDBOX } from './names.ts';

/** Limits that refuse a request before it is sent: against mistakes, not against an attacker. */
export interface Guards {
  max_instances?: number;
  /** Roubles per hour of all instances together, a decimal. */
  max_burn?: string;
  require_deadline?: boolean;
}

/** One profile of config.json. Fields that a newer version wrote are there too, and are kept. */
export interface Profile {
  base_url: string;
  /** The key as it is sent. Where a key is, is told by {@link keyPlace} alone. */
  api_key?: string;
  /** The account of the system's keyring that holds the key. */
  keyring?: string;
  /** The words of the command that prints the key. */
  key_command?: string[];
  /** Whose key it is, as GET /users/me said at login. */
  account?: { id: string; email?: string | null; name?: string | null };
  guards?: Guards;
}

/** The content of config.json, in the names of the file. */
export interface ConfigFile {
  /** The profile for commands that name none; `sandbox` may stand here. */
  current?: string;
  profiles: Record<string, Profile>;
}

/** A file as it is before the first login. */
export function emptyFile(): ConfigFile {
  return { profiles: ownNamesOnly({}) };
}

/** The profile of that name, never something that objects inherit (`constructor`). */
export function profileOf(file: ConfigFile, name: string): Profile | undefined {
  return Object.hasOwn(file.profiles, name) ? file.profiles[name] : undefined;
}

/** Every name that `--profile` takes: those of the file in order, then the built-in one. */
export function profileNames(file: ConfigFile): string[] {
  const names = Object.keys(file.profiles).filter((name) => name !== SANDBOX);
  return [...names.sort(), SANDBOX];
}

/**
 * The file with the profile added, or put in place of the one of that name. A field that is left
 * out of `profile` is gone afterwards, so that no account outlives its key. Guards, and fields that
 * only a newer version knows, stay.
 */
export function withProfile(file: ConfigFile, name: string, profile: Profile): ConfigFile {
  const { base_url, api_key, keyring, key_command, account, ...unknown } = profileOf(
    file,
    name,
  ) ?? { base_url: '' };
  return {
    ...file,
    profiles: ownNamesOnly({ ...file.profiles, [name]: { ...unknown, ...profile } }),
  };
}

/** The file without the profile, and without a `current` that named it. */
export function withoutProfile(file: ConfigFile, name: string): ConfigFile {
  const { current, ...rest } = file;
  const entries = Object.entries(file.profiles).filter(([other]) => other !== name);
  return {
    ...rest,
    ...(current === undefined || current === name ? {} : { current }),
    profiles: ownNamesOnly(Object.fromEntries(entries)),
  };
}

/** The same profiles in an object that inherits nothing, so that `profiles[name]` is safe too. */
export function ownNamesOnly(profiles: Record<string, Profile>): Record<string, Profile> {
  return Object.assign(Object.create(null), profiles);
}
