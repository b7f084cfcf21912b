import { constants } from 'node:fs';
import { access, lstat, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exposureOf, exposureOfState, trustedOwners } from '../../config/exposure.ts';
import { folders } from '../../config/index.ts';
import type { Settings, Sourced } from '../../config/resolve.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { journalFolders } from '../../journal/layout.ts';
import { shellLine } from '../../output/shell-line.ts';
import { errorCode, faultOf } from '../../system/error-code.ts';
import { temporaryName } from '../../system/files.ts';
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
      // The `config_file` check reports why.
      return isUsable ? profileCheck(await settings) : notChecked('the config file is unusable');
    },
    base_url: using(baseUrlCheck),
    api_key: using((known) => keyCheck(known, context)),
  };
}

function profileCheck({ profile }: Settings): Finding {
  return profile === undefined
    ? pass('no profile is active')
    : pass(`${profile.value}, ${origin(profile, 'profile')}`);
}

function baseUrlCheck({ sandbox, baseUrl }: Settings): Finding {
  if (sandbox) return pass('not needed: the sandbox uses its built-in service');
  return baseUrl === undefined
    ? fail(
        'missing: no base URL is set',
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
        `the key ${from} does not start with svc_sk_, the documented prefix`,
        'check that you copied the complete key and nothing else',
      )
    : pass(`${prefix}…, ${from}`);
}

/** Returns a key's documented prefix and environment, without the secret part. */
function keyPrefix(key: string): string | undefined {
  return /^svc_sk_(?:[A-Za-z]{1,12}_(?=.))?/.exec(key)?.[0];
}

function origin({ source }: Sourced<string>, what: string): string {
  if (source === 'flag') return `from --${what}`;
  if (source === 'environment') return `from GPUCLOUD_${what.toUpperCase().replace('-', '_')}`;
  return what === 'profile' ? 'set in the config file' : 'from the profile';
}

export function fileChecks(context: Context): Checks {
  const { uid } = context.host;
  return {
    config_folder: async () => folderCheck((await context.folders()).config, uid),
    config_file: () => configFileCheck(context),
    state_folder: () => stateCheck(context),
    state_writable: () => writableCheck(context),
  };
}

/** Returns the mode of a file or folder, or undefined if it is missing. */
async function found(path: string): Promise<{ mode: number; isFolder: boolean } | undefined> {
  try {
    const stats = await stat(path);
    return { mode: stats.mode & 0o777, isFolder: stats.isDirectory() };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new CliError('storage', `could not read ${path} (${faultOf(error)})`);
  }
}

async function folderCheck(path: string, uid: number | undefined): Promise<Finding> {
  const folder = await found(path);
  if (folder === undefined) {
    return pass(`${path} does not exist yet; gpucloud creates it when needed`);
  }
  return folder.isFolder
    ? privacy(path, path, folder.mode, '700', uid)
    : fail(`${path} is not a folder`, 'move the file');
}

/** Reads the folder's path without the check of the other commands, since this is that check. */
async function stateCheck({ env, host }: Context): Promise<Finding> {
  const { home, platform, uid } = host;
  const { state } = folders(env, home, platform);
  const inside = journalFolders(state);
  const exposure = exposureOfState(inside, uid, trustedOwners(uid, home));
  if (exposure !== undefined) return fail(exposure.message, shellLine(exposure.remedy));
  const [foreign, ...more] = await foreignFiles(inside);
  if (foreign === undefined) return folderCheck(state, uid);
  const { uid: owner } = await lstat(state);
  const what = more.length === 0 ? 'belongs' : `and ${more.length} more belong`;
  return fail(
    `${foreign} ${what} to another user, so gpucloud may miss instances`,
    shellLine(['sudo', 'chown', '-R', String(owner), state]),
  );
}

/** Returns files in the state folder that its owner doesn't own: `sudo gpucloud` once made them. */
async function foreignFiles(inside: readonly [string, ...string[]]): Promise<string[]> {
  const owner = await lstat(inside[0]).catch(() => undefined);
  const foreign: string[] = [];
  for (const folder of inside) {
    for (const name of await readdir(folder).catch(() => [])) {
      // Skips the file of the check for writing, which runs at the same time.
      if (name.startsWith(PROBE_PREFIX)) continue;
      const file = await lstat(join(folder, name)).catch(() => undefined);
      if (file !== undefined && file.uid !== owner?.uid) foreign.push(join(folder, name));
    }
  }
  return foreign;
}

async function configFileCheck(context: Context): Promise<Finding> {
  const config = await context.config();
  const { profiles } = await config.read();
  const file = await found(config.path);
  if (file === undefined) return pass(`${config.path} does not exist yet: no profiles`);
  const count = Object.keys(profiles).length;
  const path = `${config.path} with ${count === 1 ? '1 profile' : `${count} profiles`}`;
  return privacy(config.path, path, file.mode, '600', context.host.uid);
}

function privacy(
  path: string,
  words: string,
  mode: number,
  want: string,
  uid: number | undefined,
): Finding {
  const exposure = exposureOf(path, uid);
  if (exposure !== undefined) return warn(exposure.message, shellLine(exposure.remedy));
  // Windows has no modes: the permissions of the user's folder protect these files.
  if (uid === undefined) return pass(`${words}; permissions are not checked on Windows`);
  const octal = `0${mode.toString(8)}`;
  return (mode & 0o077) === 0
    ? pass(`${words}, ${octal}`)
    : warn(
        `other users can read ${path} (${octal}), which may contain keys`,
        shellLine(['chmod', want, path]),
      );
}

/** Large enough to reveal a full disk. */
const PROBE_PREFIX = '.doctor';
const PROBE = 'gpucloud doctor\n'.repeat(512);

async function writableCheck(context: Context): Promise<Finding> {
  const { state } = await context.folders();
  const there = await nearest(state);
  try {
    if (there !== state) {
      await access(there, constants.W_OK | constants.X_OK);
      return pass(`${state} can be created`);
    }
    // Writes a file, not a folder: under Wine, Bun's `rm` fails with EFAULT on a folder with files.
    const probe = temporaryName(join(state, PROBE_PREFIX));
    try {
      await writeFile(probe, PROBE, { flag: 'wx', flush: true });
    } finally {
      await rm(probe, { force: true });
    }
    return pass(`${state} is writable`);
  } catch (error) {
    return fail(
      `could not write to ${state} (${faultOf(error)})`,
      'make it writable, or set GPUCLOUD_STATE_DIR to another folder',
    );
  }
}

/** Returns the folder, or its nearest parent that exists. */
async function nearest(path: string): Promise<string> {
  const parent = dirname(path);
  return (await found(path)) !== undefined || parent === path ? path : nearest(parent);
}
