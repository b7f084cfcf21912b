import type { Settings, Sourced } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { type Check, fail, failWith, type Look, notChecked, pass, warn } from './check.ts';
import { keysCheck } from './keys.ts';

const SETTINGS = ['profile', 'base_url', 'api_key'] as const;

export function looksAtSettings(context: Context): Look[] {
  return [
    { ids: SETTINGS, make: () => settingsChecks(context) },
    { ids: ['keys'], make: async () => [await keysCheck(context)] },
    { ids: ['output'], make: async () => [outputCheck(context)] },
  ];
}

/** The settings in force, or undefined where there is a fault in them: `profile` tells which. */
export async function settingsOrNot(context: Context): Promise<Settings | undefined> {
  try {
    return await context.settings();
  } catch {
    // A key that can't be fetched leaves the rest as it is: `api_key` tells of it.
    return await context.settings({ key: false }).catch(() => undefined);
  }
}

async function settingsChecks(context: Context): Promise<readonly Check[]> {
  const rest = SETTINGS.slice(1).map((id) => notChecked(id, 'the settings can not be used'));
  try {
    await (await context.config()).read();
  } catch {
    return SETTINGS.map((id) => notChecked(id, 'the config file can not be used'));
  }
  let settings: Settings;
  try {
    settings = await context.settings({ key: false });
  } catch (error) {
    return [failWith('profile', error), ...rest];
  }
  const { profile, sandbox, baseUrl } = settings;
  const chosen =
    profile === undefined
      ? pass('profile', 'none is in force')
      : pass('profile', `${profile.value}, ${origin(profile, 'profile')}`);
  if (sandbox) {
    return [
      chosen,
      pass('base_url', 'none is needed: the sandbox serves itself'),
      pass('api_key', 'none is needed'),
    ];
  }
  return [chosen, baseUrlCheck(baseUrl), await fetchedKeyCheck(context)];
}

async function fetchedKeyCheck(context: Context): Promise<Check> {
  try {
    return keyCheck((await context.settings()).apiKey);
  } catch (error) {
    return failWith('api_key', error);
  }
}

function baseUrlCheck(baseUrl: Sourced<string> | undefined): Check {
  return baseUrl === undefined
    ? fail(
        'base_url',
        'there is none: the address of the service is not known',
        'sign in with "gpucloud login --base-url URL", or set GPUCLOUD_BASE_URL',
      )
    : pass('base_url', `${baseUrl.value}, ${origin(baseUrl, 'base-url')}`);
}

function keyCheck(apiKey: Sourced<string> | undefined): Check {
  if (apiKey === undefined) {
    return fail(
      'api_key',
      'there is none: you are not signed in',
      'sign in with "gpucloud login", set GPUCLOUD_API_KEY, or try "gpucloud --profile sandbox doctor"',
    );
  }
  const from = origin(apiKey, 'api-key');
  const prefix = keyPrefix(apiKey.value);
  return prefix === undefined
    ? warn(
        'api_key',
        `a key that does not begin with svc_sk_ as the API document has it, ${from}`,
        'see that the whole key was copied, and nothing else',
      )
    : pass('api_key', `${prefix}…, ${from}`);
}

/** The documented prefix and the segment of the environment; nothing of what makes the key. */
export function keyPrefix(key: string): string | undefined {
  return /^svc_sk_(?:[A-Za-z]{1,12}_(?=.))?/.exec(key)?.[0];
}

function origin({ source }: Sourced<string>, what: string): string {
  switch (source) {
    case 'flag':
      return `from --${what}`;
    case 'environment':
      return `from GPUCLOUD_${what.toUpperCase().replace('-', '_')}`;
    case 'profile':
      return what === 'profile' ? 'the current one of the config file' : 'from the profile';
    default:
      return 'the default';
  }
}

function outputCheck({ out, flags, env }: Context): Check {
  const from =
    flags.output !== undefined
      ? 'from --output'
      : flags.json === true
        ? 'from --json'
        : flags.quiet === true
          ? 'from --quiet'
          : env.GPUCLOUD_OUTPUT
            ? 'from GPUCLOUD_OUTPUT'
            : 'the default';
  return pass('output', `${out.format}, ${from}`);
}
