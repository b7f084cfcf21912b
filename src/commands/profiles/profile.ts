import { brokenBy, checkedAddress } from '../../command-line/parse.ts';
import {
  type ConfigFile,
  keyPlace,
  type Profile,
  profileNames,
  profileOf,
  SANDBOX,
} from '../../config/file.ts';
import { resolveSettings } from '../../config/index.ts';
import type { KeptKey } from '../../config/keep-key.ts';
import type { Context } from '../../context.ts';
import { CliError, ensureCliError } from '../../errors.ts';
import type { ShownProfile } from '../../json-results/local.ts';
import { field, type View } from '../../output/output.ts';
import { shellLine } from '../../output/shell-line.ts';
import { nearest, nearestFirst } from '../../rules/nearest.ts';
import { baseUrl } from '../../rules/service.ts';

export const profileView: View<ShownProfile> = {
  columns: [
    field('name', 'NAME'),
    field('base_url', 'BASE URL'),
    { id: 'account', header: 'ACCOUNT', value: accountText },
    field('has_key', 'KEY', { kind: 'yes' }),
    field('key_in', 'KEY IN'),
    field('active', 'ACTIVE', { kind: 'mark' }),
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
      id: 'enforce_max_burn',
      header: 'ENFORCE MAX PER HOUR',
      kind: 'yes',
      value: (p) => (p.guards.enforce_max_burn ? true : null),
      hidden: true,
    },
    {
      id: 'require_deadline',
      header: 'REQUIRE DEADLINE',
      kind: 'yes',
      value: (p) => (p.guards.require_deadline ? true : null),
      hidden: true,
    },
    { id: 'offer', header: 'OFFER', value: (p) => p.defaults.offer, hidden: true },
    { id: 'image', header: 'IMAGE', value: (p) => p.defaults.image, hidden: true },
    { id: 'ssh_key', header: 'SSH KEY', value: (p) => p.defaults.ssh_key, hidden: true },
    field('notify', 'NOTIFY', { hidden: true }),
  ],
  id: (p) => p.name,
  empty: 'No profiles.',
};

function accountText({ account }: ShownProfile): string | null {
  return account === null ? null : (account.email ?? account.name ?? account.id);
}

/** Reads a profile from the file. Throws CliError('notFound') if it does not exist. */
export function existingProfile(file: ConfigFile, name: string): Profile {
  const profile = profileOf(file, name);
  if (profile === undefined) {
    const names = profileNames(file);
    const there = nearestFirst(name, names).join(', ');
    const meant = nearest(name, names);
    throw new CliError('notFound', `Profile "${name}" not found; profiles: ${there}.`, {
      hint: `${meant === undefined ? '' : `did you mean ${meant}? `}add a profile: gpucloud login --profile NAME`,
      resource: name,
    });
  }
  return profile;
}

/**
 * Returns a profile as commands show it, without its key. Throws CliError('notFound') if it does
 * not exist.
 */
export function shownProfile(file: ConfigFile, name: string, context: Context): ShownProfile {
  const profile = name === SANDBOX ? undefined : existingProfile(file, name);
  const { base_url = null, account, guards = {}, defaults = {}, notify = [] } = profile ?? {};
  const { max_instances = null, max_burn = null } = guards;
  const { enforce_max_burn = false, require_deadline = false } = guards;
  const { offer = null, image = null, ssh_key = null } = defaults;
  const key_in = keyPlace(profile)?.kind ?? null;
  return {
    name,
    base_url,
    account:
      account === undefined
        ? null
        : { id: account.id, email: account.email ?? null, name: account.name ?? null },
    has_key: key_in !== null,
    key_in,
    active: activeProfile(context, file) === name,
    guards: { max_instances, max_burn, enforce_max_burn, require_deadline },
    defaults: { offer, image, ssh_key },
    notify: notify[0] ?? null,
  };
}

/**
 * Returns the name of the profile that a command with the same flags and environment uses, or
 * undefined. Returns an error if every such command would fail.
 */
export function activeProfile(
  { flags, env }: Context,
  file: ConfigFile,
): string | undefined | CliError {
  try {
    return resolveSettings(flags, env, file).settings.profile?.value;
  } catch (error) {
    ensureCliError(error);
    return error;
  }
}

/** Returns the profile from the flag or the environment. Ignores an empty variable. */
export function namedProfile({ flags, env }: Context) {
  if (flags.profile !== undefined) return { name: flags.profile, origin: '--profile' };
  const name = env.GPUCLOUD_PROFILE;
  return name ? { name, origin: 'GPUCLOUD_PROFILE' } : undefined;
}

/** Returns the address from the flag (already checked) or the environment. */
export function givenBaseUrl({ flags, env }: Context): string | undefined {
  const text = env.GPUCLOUD_BASE_URL;
  if (flags.baseUrl !== undefined || text === undefined || text === '') return flags.baseUrl;
  return checkedAddress('GPUCLOUD_BASE_URL', text, baseUrl);
}

/** Returns a profile's address. Ignores an invalid address, since a login replaces it. */
export function addressOf(profile: Profile | undefined): string | undefined {
  const verdict = profile === undefined ? undefined : baseUrl(profile.base_url);
  return verdict?.ok === true ? verdict.value : undefined;
}

/** Validates an address typed at a prompt. */
export function brokenBaseUrl(text: string): string | undefined {
  return brokenBy(baseUrl)(text.trim());
}

/** Warns if the environment overrides the selected profile. */
export function warnOfEnvironment(name: string, file: ConfigFile, { env, err }: Context): void {
  if (env.GPUCLOUD_API_KEY) {
    err.warn(
      'settings',
      'GPUCLOUD_API_KEY overrides the key in your profile. Unset it to use the profile.',
    );
  }
  const chosen = env.GPUCLOUD_PROFILE;
  if (!chosen || chosen === name) return;
  if (profileNames(file).includes(chosen)) {
    err.warn('settings', `GPUCLOUD_PROFILE selects the profile "${chosen}" until you unset it.`);
  } else {
    err.warn(
      'settings',
      `The profile "${chosen}" in GPUCLOUD_PROFILE does not exist. Unset the variable or choose another profile.`,
    );
  }
}

/** Describes where a key was stored, in one sentence. */
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
