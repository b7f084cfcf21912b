import { SANDBOX } from './names.ts';

/** Limits that refuse a request before it is sent: against mistakes, not attackers. */
export interface Guards {
  max_instances?: number;
  /** Roubles per hour of all instances together, a decimal. */
  max_burn?: string;
  require_deadline?: boolean;
}

/** One profile of config.json. Keeps fields that a newer version wrote. */
export interface Profile {
  base_url: string;
  /** The key itself. Only {@link keyPlace} determines where a key is stored. */
  api_key?: string;
  /** The account of the system's keyring that holds the key. */
  keyring?: string;
  /** The words of the command that prints the key. */
  key_command?: string[];
  /** The key's account, from GET /users/me at login. */
  account?: { id: string; email?: string | null; name?: string | null };
  guards?: Guards;
  /** The words of the command that hears of ended jobs and deadlines; empty if there is none. */
  notify?: string[];
}

/** The content of config.json, in the names of the file. */
export interface ConfigFile {
  /** The profile of commands that name none; may be `sandbox`. */
  current?: string;
  profiles: Record<string, Profile>;
}

/** The content of a new file. */
export function emptyFile(): ConfigFile {
  return { profiles: ownNamesOnly({}) };
}

/** The profile with that name, never an inherited property (`constructor`). */
export function profileOf(file: ConfigFile, name: string): Profile | undefined {
  return Object.hasOwn(file.profiles, name) ? file.profiles[name] : undefined;
}

/** Every name that `--profile` accepts: those of the file in order, then the built-in one. */
export function profileNames(file: ConfigFile): string[] {
  const names = Object.keys(file.profiles).filter((name) => name !== SANDBOX);
  return [...names.sort(), SANDBOX];
}

/**
 * The file with the profile added or replaced. Drops every field that `profile` lacks, so no
 * account outlives its key. Guards and fields of a newer version stay.
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

/** The file without the profile, and without a `current` that names it. */
export function withoutProfile(file: ConfigFile, name: string): ConfigFile {
  const { current, ...rest } = file;
  const entries = Object.entries(file.profiles).filter(([other]) => other !== name);
  return {
    ...rest,
    ...(current === undefined || current === name ? {} : { current }),
    profiles: ownNamesOnly(Object.fromEntries(entries)),
  };
}

/** The same profiles in an object without a prototype, so that `profiles[name]` is safe too. */
export function ownNamesOnly(profiles: Record<string, Profile>): Record<string, Profile> {
  return Object.assign(Object.create(null), profiles);
}
