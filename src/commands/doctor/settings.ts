import type { Settings, Sourced } from '../../config/resolve.ts';
import type { Context } from '../../context.ts';
import { type Checks, type Finding, fail, notChecked, pass, warn } from './check.ts';

export function settingsChecks(context: Context): Checks {
  const settings = context.settings({ key: false });
  const using = (check: (known: Settings) => Finding | Promise<Finding>) => async () => {
    const known = await settings.catch(() => undefined);
    return known === undefined ? notChecked('the settings are unusable') : check(known);
  };
  return {
    async profile() {
      const config = await context.config();
      const isUsable = await config.read().then(Boolean, () => false);
      // The check `config_file` shows why.
      return isUsable ? profileCheck(await settings) : notChecked('the config file is unusable');
    },
    base_url: using(baseUrlCheck),
    api_key: using((known) => keyCheck(known, context)),
  };
}

function profileCheck({ profile }: Settings): Finding {
  return profile === undefined
    ? pass('none is active')
    : pass(`${profile.value}, ${origin(profile, 'profile')}`);
}

function baseUrlCheck({ sandbox, baseUrl }: Settings): Finding {
  if (sandbox) return pass('not needed: the sandbox serves itself');
  return baseUrl === undefined
    ? fail(
        'missing: the service address is unknown',
        'sign in with "gpucloud login --base-url URL", or set GPUCLOUD_BASE_URL',
      )
    : pass(`${baseUrl.value}, ${origin(baseUrl, 'base-url')}`);
}

async function keyCheck({ sandbox }: Settings, context: Context): Promise<Finding> {
  if (sandbox) return pass('not needed');
  const { apiKey } = await context.settings();
  if (apiKey === undefined) {
    return fail(
      'missing: you are not signed in',
      'sign in with "gpucloud login", set GPUCLOUD_API_KEY, or try "gpucloud --profile sandbox doctor"',
    );
  }
  const from = origin(apiKey, 'api-key');
  const prefix = keyPrefix(apiKey.value);
  return prefix === undefined
    ? warn(
        `the key does not start with svc_sk_, the documented prefix, ${from}`,
        'check that you copied the complete key and nothing else',
      )
    : pass(`${prefix}…, ${from}`);
}

/** The documented prefix and the environment segment, without the secret part. */
function keyPrefix(key: string): string | undefined {
  return /^svc_sk_(?:[A-Za-z]{1,12}_(?=.))?/.exec(key)?.[0];
}

function origin({ source }: Sourced<string>, what: string): string {
  if (source === 'flag') return `from --${what}`;
  if (source === 'environment') return `from GPUCLOUD_${what.toUpperCase().replace('-', '_')}`;
  if (source === 'default') return 'the default';
  return what === 'profile' ? 'current in the config file' : 'from the profile';
}
