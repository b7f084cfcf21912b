import { shellLine } from '../../cli/shell-line.ts';
import { profileNames, profileOf } from '../../config/file.ts';
import { type KeyPlace, keyPlace } from '../../config/key.ts';
import type { Settings, Sourced } from '../../config/resolve.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { type Checks, type Finding, fail, notChecked, pass, warn } from './check.ts';

export function settingsChecks(context: Context): Checks {
  const settings = context.settings({ key: false });
  const using = (check: (known: Settings) => Finding | Promise<Finding>) => async () => {
    const known = await settings.catch(() => undefined);
    return known === undefined ? notChecked('the settings can not be used') : check(known);
  };
  return {
    profile: async () => profileCheck(await settings),
    base_url: using(baseUrlCheck),
    api_key: using((known) => keyCheck(known, context)),
    keys: () => keysCheck(context),
  };
}

function profileCheck({ profile }: Settings): Finding {
  return profile === undefined
    ? pass('none is in force')
    : pass(`${profile.value}, ${origin(profile, 'profile')}`);
}

function baseUrlCheck({ sandbox, baseUrl }: Settings): Finding {
  if (sandbox) return pass('none is needed: the sandbox serves itself');
  return baseUrl === undefined
    ? fail(
        'there is none: the address of the service is not known',
        'sign in with "gpucloud login --base-url URL", or set GPUCLOUD_BASE_URL',
      )
    : pass(`${baseUrl.value}, ${origin(baseUrl, 'base-url')}`);
}

async function keyCheck({ sandbox }: Settings, context: Context): Promise<Finding> {
  if (sandbox) return pass('none is needed');
  const { apiKey } = await context.settings();
  if (apiKey === undefined) {
    return fail(
      'there is none: you are not signed in',
      'sign in with "gpucloud login", set GPUCLOUD_API_KEY, or try "gpucloud --profile sandbox doctor"',
    );
  }
  const from = origin(apiKey, 'api-key');
  const prefix = keyPrefix(apiKey.value);
  return prefix === undefined
    ? warn(
        `a key that does not begin with svc_sk_ as the API document has it, ${from}`,
        'see that the whole key was copied, and nothing else',
      )
    : pass(`${prefix}…, ${from}`);
}

/** The documented prefix and the segment of the environment; nothing of what makes the key. */
export function keyPrefix(key: string): string | undefined {
  return /^svc_sk_(?:[A-Za-z]{1,12}_(?=.))?/.exec(key)?.[0];
}

function origin({ source }: Sourced<string>, what: string): string {
  if (source === 'flag') return `from --${what}`;
  if (source === 'environment') return `from GPUCLOUD_${what.toUpperCase().replace('-', '_')}`;
  if (source === 'default') return 'the default';
  return what === 'profile' ? 'the current one of the config file' : 'from the profile';
}

/** Where the key of each profile is stored, and whether it can be read there. */
async function keysCheck(context: Context): Promise<Finding> {
  const file = await (await context.config()).read().catch(() => undefined);
  if (file === undefined) return notChecked('the config file can not be used');
  const stored = profileNames(file).flatMap((name) => {
    const place = keyPlace(profileOf(file, name));
    return place === undefined ? [] : [{ name, place }];
  });
  if (stored.length === 0) return pass('no profile has one');
  const found = await Promise.all(stored.map(({ name, place }) => oneKey(name, place, context)));
  const words = found.map(({ message }) => message).join('; ');
  const broken = found.find(({ status }) => status === 'fail');
  return broken === undefined ? pass(words) : fail(words, broken.hint);
}

async function oneKey(name: string, place: KeyPlace, context: Context): Promise<Finding> {
  if (place.kind === 'file') return pass(`${name}: in the config file`);
  // It may ask for a passphrase or a touch; the check `api_key` runs the active one.
  if (place.kind === 'command') {
    return pass(`${name}: with "${shellLine(place.argv)}", which is not run for this`);
  }
  try {
    await (await context.keys()).read(name, place);
    return pass(`${name}: in the system keyring, where it can be read`);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return fail(
      `${name}: ${error.message.replace(/\.$/, '')}`,
      error.hint ?? `gpucloud login --profile ${name}`,
    );
  }
}
