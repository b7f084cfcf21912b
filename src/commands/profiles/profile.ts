import { brokenBy, checkedAddress } from '../../cli/parse.ts';
import {
  type ConfigFile,
  type Guards,
  type Profile,
  profileNames,
  profileOf,
} from '../../config/file.ts';
import { resolveSettings } from '../../config/index.ts';
import type { KeptKey } from '../../config/keep-key.ts';
import { keyPlace, type Store } from '../../config/key.ts';
import { SANDBOX } from '../../config/names.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { View } from '../../output/output.ts';
import { shellLine } from '../../output/shell-line.ts';
import { nearest, nearestFirst } from '../../rules/nearest.ts';
import { baseUrl } from '../../rules/service.ts';

/** A profile as commands show it: never with its key. */
export interface ShownProfile {
  readonly name: string;
  /** null for the sandbox, which serves itself. */
  readonly base_url: string | null;
  readonly account: {
    readonly id: string;
    readonly email: string | null;
    readonly name: string | null;
  } | null;
  /** Whether it has a key. */
  readonly has_key: boolean;
  /** Where its key rests; null where it has none. */
  readonly key_in: Store | null;
  /** Whether a command with the same flags and environment uses it. */
  readonly active: boolean;
  readonly guards: {
    readonly max_instances: number | null;
    /** Roubles per hour. */
    readonly max_burn: string | null;
    readonly require_deadline: boolean;
  };
}

export const profileView: View<ShownProfile> = {
  columns: [
    { id: 'name', header: 'NAME', value: (p) => p.name },
    { id: 'base_url', header: 'BASE URL', value: (p) => p.base_url },
    { id: 'account', header: 'ACCOUNT', value: accountText },
    { id: 'has_key', header: 'KEY', kind: 'yes', value: (p) => p.has_key },
    { id: 'key_in', header: 'KEY IN', value: (p) => p.key_in },
    { id: 'active', header: 'ACTIVE', kind: 'mark', value: (p) => p.active },
    {
      id: 'max_instances',
      header: 'MAX INSTANCES',
      value: (p) => p.guards.max_instances,
      hidden: true,
    },
    {
      id: 'max_burn',
      header: 'MAX PER HOUR',
      kind: 'money',
      value: (p) => p.guards.max_burn,
      hidden: true,
    },
    {
      id: 'require_deadline',
      header: 'REQUIRE DEADLINE',
      kind: 'yes',
      value: (p) => (p.guards.require_deadline ? true : null),
      hidden: true,
    },
  ],
  id: (p) => p.name,
  empty: 'There are no profiles.',
};

function accountText({ account }: ShownProfile): string | null {
  return account === null ? null : (account.email ?? account.name ?? account.id);
}

/** A profile of the file. Throws CliError('notFound') for a name that none has. */
export function existingProfile(file: ConfigFile, name: string): Profile {
  const profile = profileOf(file, name);
  if (profile === undefined) {
    const names = profileNames(file);
    const there = nearestFirst(name, names).join(', ');
    const meant = nearest(name, names);
    throw new CliError('notFound', `There is no profile "${name}"; there are: ${there}.`, {
      hint: `${meant === undefined ? '' : `did you mean ${meant}? `}add one with: gpucloud login --profile NAME`,
      resource: name,
    });
  }
  return profile;
}

/** Throws CliError('notFound') for a name that no profile has. */
export function shownProfile(file: ConfigFile, name: string, context: Context): ShownProfile {
  const active = activeProfile(context, file) === name;
  if (name === SANDBOX) {
    const none = { base_url: null, account: null, has_key: false, key_in: null };
    return { name, ...none, active, guards: shownGuards({}) };
  }
  const profile = existingProfile(file, name);
  const { base_url, account, guards = {} } = profile;
  const place = keyPlace(profile);
  return {
    name,
    base_url,
    account:
      account === undefined
        ? null
        : { id: account.id, email: account.email ?? null, name: account.name ?? null },
    has_key: place !== undefined,
    key_in: place?.kind ?? null,
    active,
    guards: shownGuards(guards),
  };
}

function shownGuards(guards: Guards): ShownProfile['guards'] {
  const { max_instances = null, max_burn = null, require_deadline = false } = guards;
  return { max_instances, max_burn, require_deadline };
}

/**
 * The name of the profile that a command with the same flags and environment uses; undefined when
 * there is none. The error with which every command would be refused, otherwise.
 */
export function activeProfile(
  { flags, env }: Context,
  file: ConfigFile,
): string | undefined | CliError {
  try {
    return resolveSettings(flags, env, file).settings.profile?.value;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return error;
  }
}

/** The profile that a flag or the environment names; a variable that is empty names none. */
export function namedProfile({ flags, env }: Context) {
  if (flags.profile !== undefined) return { name: flags.profile, origin: '--profile' };
  const name = env.GPUCLOUD_PROFILE;
  return name ? { name, origin: 'GPUCLOUD_PROFILE' } : undefined;
}

/** The address that a flag (checked where it was parsed) or the environment gives. */
export function givenBaseUrl({ flags, env }: Context): string | undefined {
  const text = env.GPUCLOUD_BASE_URL;
  if (flags.baseUrl !== undefined || text === undefined || text === '') return flags.baseUrl;
  return checkedAddress('GPUCLOUD_BASE_URL', text, baseUrl);
}

/** The address of a profile. One that is against the rules counts as none: signing in replaces it. */
export function addressOf(profile: Profile | undefined): string | undefined {
  const verdict = profile === undefined ? undefined : baseUrl(profile.base_url);
  return verdict?.ok === true ? verdict.value : undefined;
}

/** The check of a prompt for an address. */
export function brokenBaseUrl(text: string): string | undefined {
  return brokenBy(baseUrl)(text.trim());
}

/** Said where what is stored as current is not what the next command will use. */
export function warnOfEnvironment(name: string, file: ConfigFile, { env, err }: Context): void {
  if (env.GPUCLOUD_API_KEY) {
    err.warn(
      'settings',
      'GPUCLOUD_API_KEY is set and goes before every stored key: unset it to use profiles.',
    );
  }
  const chosen = env.GPUCLOUD_PROFILE;
  if (!chosen || chosen === name) return;
  if (profileNames(file).includes(chosen)) {
    err.warn(
      'settings',
      `GPUCLOUD_PROFILE is set and chooses the profile "${chosen}" until it is unset.`,
    );
  } else {
    err.warn(
      'settings',
      `GPUCLOUD_PROFILE is set to "${chosen}", and no profile has that name: commands are refused until it is unset or names one.`,
    );
  }
}

/** Where a key was stored, in a sentence. */
export function keptText({ place, noKeyring }: KeptKey, path: string): string {
  if (place.kind === 'command') {
    return `Each command reads the key with "${shellLine(place.argv)}".`;
  }
  if (place.kind === 'keyring') {
    return `Key saved to the system keyring, as "${place.entry}".`;
  }
  const inFile = `Key saved to ${path} (mode 0600).`;
  return noKeyring === undefined ? inFile : `${inFile} ${noKeyring.message}`;
}
