import { CliError } from '../errors.ts';
import { type ConfigFile, keyPlace, type Profile, profileNames, profileOf } from './file.ts';
import type { Resolved, Settings } from './resolve.ts';

/** Returns the hint if the service refuses the active key (401, 403). */
export function refusedKeyRemedy({ apiKey, profile }: Settings): string {
  // A key from the environment overrides the key that a login stores.
  if (apiKey?.source === 'environment') {
    return 'Correct the key in GPUCLOUD_API_KEY, or unset the variable to use the key that "gpucloud login" stores.';
  }
  const named = profile === undefined || profile.source === 'profile';
  return `Sign in with a working key: gpucloud login${named ? '' : ` --profile ${profile.value}`}`;
}

/** Returns the hint for a command that needs a key when none is set. */
export function notSignedIn(
  settings: Settings,
  file: ConfigFile,
  { GPUCLOUD_API_KEY: given }: Readonly<Record<string, string | undefined>>,
): CliError {
  // CI passes a secret that does not exist as an empty variable.
  const isEmpty = given !== undefined;
  return new CliError(
    'authentication',
    `You are not signed in${isEmpty ? ': GPUCLOUD_API_KEY is empty' : ''}.`,
    {
      hint: noKeyRemedy(settings, file),
    },
  );
}

/** Suggests another profile that has a key, since no new login is needed then. */
function noKeyRemedy({ profile }: Settings, file: ConfigFile): string {
  if (profile !== undefined) {
    return `profile "${profile.value}" has no key; add one: gpucloud login --profile ${profile.value}`;
  }
  const others = profileNames(file).filter((name) => keyPlace(profileOf(file, name)) !== undefined);
  const [first, ...more] = others;
  if (first !== undefined) {
    return more.length === 0
      ? `the profile "${first}" has a key; use it: gpucloud profiles use ${first}`
      : `choose a profile that has a key: gpucloud profiles use NAME (${others.join(', ')})`;
  }
  return 'Try the sandbox: gpucloud --profile sandbox …, or sign in: gpucloud login';
}

/** Warns about variables that `--profile` ignores or that override it; undefined without any. */
export function environmentWarning(
  { settings: { profile, sandbox }, overriding }: Resolved,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (profile?.source !== 'flag') return undefined;
  if (sandbox) {
    const unused = ['GPUCLOUD_BASE_URL', 'GPUCLOUD_API_KEY'].filter((name) => env[name]);
    return unused.length === 0
      ? undefined
      : `Ignoring ${unused.join(' and ')}: --profile ${profile.value} uses its built-in service.`;
  }
  if (overriding.length === 0) return undefined;
  const verb = overriding.length === 1 ? 'overrides' : 'override';
  return `${overriding.join(' and ')} ${verb} --profile ${profile.value}, so this command may use another account. To use the profile: unset ${overriding.join(' ')}`;
}

type Account = NonNullable<Profile['account']>;

/** Formats `anna@example.com (ID)`. */
function accountText({ id, email, name }: Account): string {
  const called = email ?? name;
  return called ? `${called} (${id})` : id;
}

/** Builds the error for a profile whose key belongs to another account than at its login. */
export function otherAccount(
  { profile, account = '' }: Settings,
  file: ConfigFile,
  is: Account,
): CliError {
  const name = profile?.value ?? '';
  const was = profileOf(file, name)?.account ?? { id: account };
  return new CliError(
    'authentication',
    `The key of profile "${name}" belongs to the account ${accountText(is)}, but the profile signed in as ${accountText(was)}.`,
    {
      code: 'other_account',
      hint: `restore the earlier key, or sign in to the other account: gpucloud login --profile ${name}`,
    },
  );
}

/**
 * Returns the question to ask before replacing a profile's key or address, or undefined if nothing
 * is lost.
 */
export function replaceQuestion(
  name: string,
  before: Profile | undefined,
  address: string | undefined,
): string | undefined {
  if (before === undefined) return undefined;
  const { account, base_url } = before;
  if (keyPlace(before) !== undefined) {
    const owner = account?.email ?? account?.name;
    const whose = owner ? `${base_url}, ${owner}` : base_url;
    return `Replace the key in the profile "${name}" (${whose})? The old key keeps working but is removed from this computer.`;
  }
  return address === undefined || base_url === address
    ? undefined
    : `Change the base URL of the profile "${name}" from ${base_url} to ${address}?`;
}
