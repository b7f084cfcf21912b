import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { confirm } from '../../cli/confirm.ts';
import { checked } from '../../cli/parse.ts';
import { type ConfigFile, type Profile, profileOf, withProfile } from '../../config/file.ts';
import { keepKey } from '../../config/keep-key.ts';
import { keyFields, keyPlace, samePlace } from '../../config/key.ts';
import { profileName, SANDBOX } from '../../config/names.ts';
import { replaceQuestion } from '../../config/remedies.ts';
import { refuseExposedConfig } from '../../context/settings.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { faultOf } from '../../files/error-code.ts';
import { syncFolder } from '../../files/replace.ts';

/** A place for a new key's secret, prepared before the request. */
export interface Place {
  /** Completes "Its secret is saved in …". */
  readonly where: string;
  /** Throws CliError('storage') if the secret is not stored afterwards. */
  keep(secret: string): Promise<void>;
  /** Removes what was prepared, if there is no secret to store. */
  drop(): Promise<void>;
}

/** Faults of the path itself; anything else is a disk fault. */
const WRONG_PATH: Readonly<Record<string, string>> = {
  EEXIST: 'the file exists, and is not overwritten',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'this is a folder',
};

/** Creates the file (0600, empty). Never touches an existing file. */
export async function reservedFile(path: string): Promise<Place> {
  const handle = await open(path, 'wx', 0o600).catch((error: unknown) => {
    const code = faultOf(error);
    const wrong = path === '' ? 'must not be empty' : WRONG_PATH[code];
    throw wrong === undefined
      ? new CliError(
          'storage',
          `--key-file "${path}": could not create the file (${code}). No key was created.`,
        )
      : usageError(`--key-file "${path}": ${wrong}`);
  });
  async function drop(): Promise<void> {
    await handle.close();
    await rm(path, { force: true });
  }
  return {
    where: `${path} (mode 0600)`,
    drop,
    async keep(secret) {
      try {
        await handle.writeFile(`${secret}\n`);
        await handle.sync();
        await handle.close();
        syncFolder(dirname(path));
      } catch (error) {
        await drop().catch(() => undefined);
        throw new CliError('storage', `${path} could not be written (${faultOf(error)})`, {
          cause: error,
        });
      }
    },
  };
}

/**
 * Prepares to store the new key in a profile, with the address and account of the key that requests
 * it. Asks before it replaces a stored key or address.
 */
export async function profilePlace(name: string, context: Context): Promise<Place> {
  checked('--save-profile', name, profileName);
  const { sandbox, baseUrl, profile, account } = await context.settings();
  if (sandbox || baseUrl === undefined) {
    throw usageError(
      `--save-profile "${name}": the ${SANDBOX} serves itself and needs no key in a profile`,
    );
  }
  const config = await context.config();
  const file = await config.read();
  refuseExposedConfig(config.path, context.host.uid);
  const before = profileOf(file, name);
  const question = replaceQuestion(name, before, baseUrl.value);
  if (question !== undefined) await confirm(context, question);
  const own = profile === undefined ? undefined : profileOf(file, profile.value)?.account;
  const owner = account !== undefined && own !== undefined ? own : await accountOf(context);
  return {
    where: `the profile "${name}" (use it with --profile ${name})`,
    async keep(secret) {
      await keepKey(
        { profile: name, key: secret, store: undefined },
        (now, place) => {
          refuseChanged(now, name, before);
          const kept = { base_url: baseUrl.value, ...keyFields(place), account: owner };
          return withProfile(now, name, kept);
        },
        context,
      );
    },
    async drop() {},
  };
}

async function accountOf(context: Context): Promise<NonNullable<Profile['account']>> {
  const { id, email, name } = await (await context.api()).users.me();
  return { id, email: email ?? null, name: name ?? null };
}

/** Runs under the file's lock: replaces only what was there when the question was asked. */
function refuseChanged(file: ConfigFile, name: string, before: Profile | undefined): void {
  const now = profileOf(file, name);
  if (now?.base_url !== before?.base_url || !samePlace(keyPlace(now), keyPlace(before))) {
    throw new CliError('storage', `the profile "${name}" was changed by another program`);
  }
}
