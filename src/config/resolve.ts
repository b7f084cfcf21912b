import { CliError, usageError } from '../errors.ts';
import { nearest } from '../rules/nearest.ts';
import { apiKey, baseUrl } from '../rules/service.ts';
import {
  type ConfigFile,
  type KeyPlace,
  keyPlace,
  type Profile,
  profileNames,
  profileOf,
  SANDBOX,
} from './file.ts';

/** A value with its source, which errors and `doctor` show. */
export interface Sourced<T> {
  readonly value: T;
  readonly source: 'flag' | 'environment' | 'profile';
}

/** A command's active settings: flag > environment > profile > default. */
export interface Settings {
  /** The active profile; undefined if none exists and none was requested. */
  readonly profile: Sourced<string> | undefined;
  /** Whether the built-in profile `sandbox` is active, which has no base URL and no key. */
  readonly sandbox: boolean;
  readonly baseUrl: Sourced<string> | undefined;
  readonly apiKey: Sourced<string> | undefined;
  /**
   * The user ID of the profile's account, stored at login. Known instances are stored by account.
   */
  readonly account: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Global flags that affect the settings, as given. */
export interface SettingsFlags {
  readonly profile?: string;
  readonly baseUrl?: string;
}

const SANDBOX_SETTINGS = {
  sandbox: true,
  baseUrl: undefined,
  apiKey: undefined,
  account: undefined,
} as const;

/** Settings without the stored key, to fetch it only if needed. */
export interface Resolved {
  readonly settings: Settings;
  readonly storedKey: StoredKey | undefined;
  /** The variables that override what the profile of `--profile` stores. */
  readonly overriding: readonly string[];
}

interface StoredKey {
  readonly profile: string;
  readonly place: KeyPlace;
  /** The key's account. */
  readonly account: string | undefined;
}

/** Adds the stored key to the settings. Throws CliError('storage') if the key breaks its rule. */
export function withKey(
  settings: Settings,
  { profile, account }: StoredKey,
  key: string,
): Settings {
  return { ...settings, apiKey: checkedKey({ value: key, source: 'profile' }, profile), account };
}

/**
 * Returns the active settings: flag > environment > profile. Treats an empty variable as not set.
 * There is no default, since the document names no address of the service.
 *
 * Sends a stored key only to its own base URL. The account is the profile's, so it is known only
 * while the profile's key is active.
 *
 * Throws CliError('usage') for a missing profile, an invalid flag or variable, a stored key with
 * another base URL, and `sandbox` with an address; CliError('storage') for an invalid stored
 * address. No message contains a key.
 */
export function resolveSettings(
  flags: SettingsFlags,
  env: Environment,
  file: ConfigFile,
): Resolved {
  const chosen = given(flags.profile, env.GPUCLOUD_PROFILE) ?? currentProfile(flags, env, file);
  const url = given(flags.baseUrl, env.GPUCLOUD_BASE_URL);
  const address = url && checkedUrl(url);
  if (chosen?.value === SANDBOX && sandboxHolds(chosen, address)) {
    const settings = { profile: chosen, ...SANDBOX_SETTINGS };
    return { settings, storedKey: undefined, overriding: [] };
  }
  const stored =
    chosen === undefined || chosen.value === SANDBOX
      ? undefined
      : { name: chosen.value, profile: storedProfile(file, chosen) };
  const base = address ?? (stored && storedBaseUrl(stored.name, stored.profile));
  const atHome =
    stored !== undefined && (address === undefined || isHome(stored.profile, address.value));
  // A shell or a CI variable may add a line break to the key.
  const key = given(undefined, env.GPUCLOUD_API_KEY?.trim());
  const fromEnvironment = key && checkedKey(key);
  const mine = keyPlace(stored?.profile);

  if (fromEnvironment === undefined && stored && mine && address && !atHome) {
    throw strayKey(stored.name, address);
  }
  const account = atHome ? stored.profile.account?.id : undefined;
  const isOwn = mine?.kind === 'file' && fromEnvironment?.value === mine.key;
  const isElsewhere = address?.source === 'environment' && !atHome;
  const isKeyReplaced =
    fromEnvironment !== undefined && (isElsewhere || (atHome && mine !== undefined && !isOwn));
  return {
    settings: {
      // With another address, the stored profile is not active, and its name would mislead.
      profile: chosen?.source === 'profile' && !atHome ? undefined : chosen,
      sandbox: false,
      baseUrl: base,
      apiKey: fromEnvironment,
      account: isOwn ? account : undefined,
    },
    storedKey:
      fromEnvironment === undefined && mine !== undefined && atHome
        ? { profile: stored.name, place: mine, account }
        : undefined,
    // Only the flag promises a profile's account: a key in the environment is how CI signs in.
    overriding:
      chosen?.source === 'flag'
        ? [
            ...(isKeyReplaced ? ['GPUCLOUD_API_KEY'] : []),
            ...(isElsewhere ? ['GPUCLOUD_BASE_URL'] : []),
          ]
        : [],
  };
}

/**
 * Whether the flags and variables decide everything: they select the sandbox, or name an address and
 * a key but no profile. A damaged config file then stops no command.
 */
export function needsNoProfile(flags: SettingsFlags, env: Environment): boolean {
  const chosen = given(flags.profile, env.GPUCLOUD_PROFILE);
  if (chosen !== undefined) return chosen.value === SANDBOX;
  const key = given(undefined, env.GPUCLOUD_API_KEY?.trim());
  return given(flags.baseUrl, env.GPUCLOUD_BASE_URL) !== undefined && key !== undefined;
}

/** Ignores a `current` that names no profile, unless a profile is needed. */
function currentProfile(
  flags: SettingsFlags,
  env: Environment,
  file: ConfigFile,
): Sourced<string> | undefined {
  const { current } = file;
  if (current === undefined) return undefined;
  const isThere = current === SANDBOX || profileOf(file, current) !== undefined;
  return isThere || !needsNoProfile(flags, env) ? { value: current, source: 'profile' } : undefined;
}

/** Returns the value of a flag, otherwise of a variable. An empty variable counts as not set. */
function given(flag: string | undefined, text: string | undefined): Sourced<string> | undefined {
  if (flag !== undefined) return { value: flag, source: 'flag' };
  return text ? { value: text, source: 'environment' } : undefined;
}

/**
 * Whether the sandbox stays active despite an address. The source with the higher rank wins. Two
 * values of the same rank are an error, and so is an address flag with a requested sandbox.
 *
 * - `--profile` wins over GPUCLOUD_BASE_URL.
 * - GPUCLOUD_PROFILE contradicts both.
 * - `current` gives way to both.
 *
 * A key alone never deactivates the sandbox, since a key names no service.
 */
function sandboxHolds(sandbox: Sourced<string>, given: Sourced<string> | undefined): boolean {
  if (given === undefined || (sandbox.source === 'flag' && given.source === 'environment')) {
    return true;
  }
  if (sandbox.source === 'profile') {
    return false;
  }
  throw usageError(
    `${nameOf('profile', sandbox)} ${SANDBOX} and ${nameOf('base-url', given)} can't be combined: the sandbox uses its built-in service`,
    'use only one',
  );
}

function nameOf(what: 'profile' | 'base-url', sourced: Sourced<string>): string {
  return sourced.source === 'flag'
    ? `--${what}`
    : `GPUCLOUD_${what.toUpperCase().replace('-', '_')}`;
}

function storedProfile(file: ConfigFile, chosen: Sourced<string>): Profile {
  const profile = profileOf(file, chosen.value);
  if (profile !== undefined) {
    return profile;
  }
  const names = profileNames(file);
  const there = `profiles: ${names.join(', ')}`;
  const meant = nearest(chosen.value, names);
  if (chosen.source === 'profile') {
    throw usageError(
      `the active profile "${chosen.value}" does not exist; ${there}`,
      'select one: gpucloud profiles use NAME',
    );
  }
  throw usageError(
    `${nameOf('profile', chosen)}: no profile "${chosen.value}"; ${there}`,
    `${meant === undefined ? '' : `did you mean ${meant}? `}add one: gpucloud login --profile NAME`,
  );
}

function storedBaseUrl(name: string, profile: Profile): Sourced<string> {
  const verdict = baseUrl(profile.base_url);
  if (!verdict.ok) {
    throw brokenProfile(name, 'base URL', verdict.rule);
  }
  return { value: verdict.value, source: 'profile' };
}

/** Whether an address equals the profile's address, after normalizing both. */
export function isHome(profile: Profile, address: string): boolean {
  const own = baseUrl(profile.base_url);
  return own.ok && own.value === address;
}

function checkedKey({ value: text, source }: Sourced<string>, profile = ''): Sourced<string> {
  const verdict = apiKey(text);
  if (verdict.ok) return { value: verdict.value, source };
  throw source === 'profile'
    ? brokenProfile(profile, 'API key', verdict.rule)
    : usageError(`GPUCLOUD_API_KEY: ${verdict.rule}`);
}

function checkedUrl(url: Sourced<string>): Sourced<string> {
  const verdict = baseUrl(url.value);
  if (!verdict.ok) {
    // Hides an address with a user name, a query or a fragment: they may contain a password or
    // token.
    const shown = /[@?#]/.test(url.value) ? '' : ` "${url.value}"`;
    throw usageError(`${nameOf('base-url', url)}${shown}: ${verdict.rule}`);
  }
  return { ...url, value: verdict.value };
}

function strayKey(name: string, given: Sourced<string>): CliError {
  return usageError(
    `The key of profile "${name}" does not belong to ${nameOf('base-url', given)}, so it was not sent`,
    'set GPUCLOUD_API_KEY to a key of that service, or run: gpucloud login --profile NAME --base-url URL',
  );
}

function brokenProfile(name: string, part: string, rule: string): CliError {
  return new CliError('storage', `the ${part} in profile "${name}" can't be used: ${rule}`, {
    hint: `replace it: gpucloud login --profile ${name}`,
    resource: name,
  });
}
