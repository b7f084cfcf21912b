import { exposureOfConfig, trustedOwners } from '../config/exposure.ts';
import {
  type ConfigFile,
  emptyFile,
  folders as foldersOf,
  needsNoProfile,
  notSignedIn,
  openConfig,
  resolveSettings,
  withKey,
} from '../config/index.ts';
import { openKeys } from '../config/keys.ts';
import { environmentWarning } from '../config/remedies.ts';
import { CliError } from '../errors.ts';
import { lazy } from '../lazy.ts';
import { shellLine } from '../output/shell-line.ts';
import type { GlobalFlags, Host } from './contract.ts';
import { safeFolders } from './safe-folders.ts';
import type { Terminal } from './terminal.ts';

export type SettingsRoom = ReturnType<typeof createSettings>;

/** Folders, config file, keys and the resulting settings. Each is read at its first use. */
export function createSettings(host: Host, flags: GlobalFlags, { out, err, start }: Terminal) {
  const { env } = host;
  /** What the run has used so far. */
  const used = { areFolders: false };
  const owners = lazy(() => trustedOwners(host.uid, host.home));
  const folders = lazy(async () => {
    used.areFolders = true;
    return safeFolders(foldersOf(env, host.home, host.platform), host.uid, owners());
  });
  const config = lazy(async () => {
    return openConfig((await folders()).config);
  });
  const keys = lazy(async () => {
    return openKeys({
      helper: host.keyring,
      start,
      stop: host.interrupts.first,
      complain: (text) => err.relay(text),
    });
  });
  /** Returns no profiles for an unusable file if the command needs none. */
  async function profiles(): Promise<ConfigFile> {
    try {
      return await (await config()).read();
    } catch (error) {
      if (needsNoProfile(flags, env)) return emptyFile();
      throw error;
    }
  }
  const resolved = lazy(async () => {
    // Validates --query before any request, since every request reads the settings.
    await out.prepare();
    return resolveSettings(flags, env, await profiles());
  });
  let isKeyFetched = false;
  const settings = lazy(async () => {
    const found = await resolved();
    const { storedKey } = found;
    // A key from the environment may be sent to a stored address.
    const { apiKey, baseUrl } = found.settings;
    if (storedKey !== undefined || (apiKey !== undefined && baseUrl?.source === 'profile')) {
      refuseExposedConfig((await config()).path, host.uid);
    }
    if (storedKey === undefined) return found.settings;
    isKeyFetched = true;
    const { profile, place } = storedKey;
    const key = place.kind === 'file' ? place.key : await (await keys()).read(profile, place);
    return withKey(found.settings, storedKey, key);
  });
  return {
    folders,
    owners,
    profiles,
    used,
    config,
    keys,
    /** Returns the settings without fetching a key: the command may not need it. */
    resolved,
    settings,
    /** Throws CliError('authentication') if neither a key nor an address is set. Fetches no key. */
    async ensureSignedIn() {
      const { settings: found } = await resolved();
      if (found.sandbox || found.baseUrl !== undefined || found.apiKey !== undefined) return;
      throw notSignedIn(found, await (await config()).read(), env);
    },
    /** Whether reading the key needs neither the keyring nor a command. */
    async isKeyAtHand() {
      const { storedKey } = await resolved();
      return isKeyFetched || storedKey === undefined || storedKey.place.kind === 'file';
    },
    /** Warns about variables that `--profile` ignores, and about those that override it. */
    warnOfEnv: lazy(async () => {
      const warning = environmentWarning(await resolved(), env);
      if (warning !== undefined) err.warn('settings', warning);
    }),
  };
}

/**
 * Throws CliError('authentication') if other users may have changed the config file. The file
 * determines the key, its command and the address that receives the key.
 */
export function refuseExposedConfig(path: string, uid: number | undefined): void {
  const exposure = exposureOfConfig(path, uid);
  if (exposure === undefined) return;
  throw new CliError('authentication', `Refused to use the API key: ${exposure.message}.`, {
    code: 'exposed_key',
    hint: shellLine(exposure.remedy),
  });
}
