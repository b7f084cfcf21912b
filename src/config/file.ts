import { lazy } from '../lazy.ts';
import { money } from '../rules/money.ts';
import { broken, kept, type Verdict } from '../rules/rule.ts';
import * as z from '../zod.ts';

/** One profile of config.json. Keeps fields of newer versions. */
export const profileSchema = lazy(() =>
  z.object({
    base_url: z.string(),
    /** The key. Only {@link keyPlace} determines where a key is stored. */
    api_key: z.optional(z.string()),
    /** Account name of the key in the system's keyring. */
    keyring: z.optional(z.string()),
    /** Words of the command that prints the key. */
    key_command: z.optional(z.array(z.string()).check(z.minLength(1))),
    /** The key's account, from GET /users/me at login. */
    account: z.optional(
      z.object({ id: z.string(), email: z.nullish(z.string()), name: z.nullish(z.string()) }),
    ),
    /**
     * Limits checked before a request is sent. They prevent mistakes, not attacks. Rejects an
     * unreadable guard, so that it can't count as no guard.
     */
    guards: z.optional(
      z.object({
        max_instances: z.optional(z.int().check(z.nonnegative())),
        /** Maximum roubles per hour of all instances together, as a decimal. */
        max_burn: z.optional(z.string().check(z.refine((text) => money(text).ok))),
        /** Terminates a new instance whose price exceeds `max_burn`. */
        enforce_max_burn: z.optional(z.boolean()),
        require_deadline: z.optional(z.boolean()),
      }),
    ),
    /** Used by commands that rent if neither a flag nor `--file` has the value. */
    defaults: z.optional(
      z.object({
        offer: z.optional(z.string()),
        image: z.optional(z.string()),
        ssh_key: z.optional(z.string()),
      }),
    ),
    /**
     * Notification command with its arguments, run when a job finishes and for deadlines. Undefined
     * or empty if there is none.
     */
    notify: z.optional(z.array(z.string())),
  }),
);

export type Profile = z.infer<ReturnType<typeof profileSchema>>;
export type Guards = NonNullable<Profile['guards']>;
export type Defaults = NonNullable<Profile['defaults']>;

/** config.json without its profiles, each of which {@link profileSchema} describes. */
export const fileSchema = lazy(() =>
  z.object({
    /** Default profile; may be `sandbox`. */
    current: z.optional(z.string()),
    profiles: z.looseObject({}),
  }),
);

/** The content of config.json, with its field names. */
export type ConfigFile = Omit<z.infer<ReturnType<typeof fileSchema>>, 'profiles'> & {
  profiles: Record<string, Profile>;
};

export function emptyFile(): ConfigFile {
  return { profiles: ownNamesOnly({}) };
}

/** Returns the profile with that name, never an inherited property (`constructor`). */
export function profileOf(file: ConfigFile, name: string): Profile | undefined {
  return Object.hasOwn(file.profiles, name) ? file.profiles[name] : undefined;
}

/** Returns the names that `--profile` accepts: profiles in the file's order, then `sandbox`. */
export function profileNames(file: ConfigFile): string[] {
  const names = Object.keys(file.profiles).filter((name) => name !== SANDBOX);
  return [...names.sort(), SANDBOX];
}

/**
 * Returns the file with the profile added or replaced. Drops every field that `profile` lacks, so
 * that no account outlives its key, but keeps guards and fields of a newer version.
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

/** Returns the file without the profile. Also removes a `current` that names the profile. */
export function withoutProfile(file: ConfigFile, name: string): ConfigFile {
  const { current, ...rest } = file;
  const entries = Object.entries(file.profiles).filter(([other]) => other !== name);
  return {
    ...rest,
    ...(current === undefined || current === name ? {} : { current }),
    profiles: ownNamesOnly(Object.fromEntries(entries)),
  };
}

/** Copies the profiles to an object without a prototype, so that `profiles[name]` is safe too. */
export function ownNamesOnly(profiles: Record<string, Profile>): Record<string, Profile> {
  return Object.assign(Object.create(null), profiles);
}

/** The built-in profile, with its own service. No file contains it. */
export const SANDBOX = 'sandbox';

/**
 * Validates a profile name to add or remove. Rejects `sandbox` in any case, since a paid profile
 * must not look like the free sandbox. Rejects a leading hyphen, since it would be read as a flag.
 */
export function profileName(text: string): Verdict<string> {
  if (text === '') {
    return broken('must not be empty');
  }
  if (text.length > 50) {
    return broken('must have at most 50 characters');
  }
  if (!/^[A-Za-z0-9._-]+$/.test(text)) {
    return broken('must contain only letters, digits, ".", "_" and "-"');
  }
  if (text.startsWith('-')) {
    return broken('must not start with "-"');
  }
  if (text.toLowerCase() === SANDBOX) {
    return broken(`the profile "${SANDBOX}" is built in, so it can't be added or removed`);
  }
  return kept(text);
}

/** Where a profile's key is stored. */
export type KeyPlace =
  /** config.json. */
  | { readonly kind: 'file'; readonly key: string }
  /** The system's keyring, under this account of the service `gpucloud`. */
  | { readonly kind: 'keyring'; readonly entry: string }
  /** A password manager, which prints the key on request. */
  | { readonly kind: 'command'; readonly argv: readonly string[] };

export const STORES = ['keyring', 'file', 'command'] as const;
export type Store = (typeof STORES)[number];

/**
 * Returns where a profile's key is stored, or undefined without a key. No other code reads these
 * fields.
 */
export function keyPlace(profile: Profile | undefined): KeyPlace | undefined {
  const { api_key: key, keyring: entry, key_command: argv }: Partial<Profile> = profile ?? {};
  if (key !== undefined) return { kind: 'file', key };
  if (entry !== undefined) return { kind: 'keyring', entry };
  return argv === undefined ? undefined : { kind: 'command', argv };
}

/** Returns the profile fields for a key's place. */
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
