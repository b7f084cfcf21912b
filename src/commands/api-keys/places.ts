import { open, readFile, rm } from 'node:fs/promises';
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

/** A place for the secret of a new key, made ready before the key is requested. */
export interface Place {
  /** Completes "Its secret rests in …". */
  readonly where: string;
  /** Throws CliError('storage') when the secret is not there afterwards. */
  keep(secret: string): Promise<void>;
  /** Takes back what was made ready, when there is no secret to keep. */
  drop(): Promise<void>;
}

/** What is wrong with the path itself; anything else is the fault of the disk. */
const WRONG_PATH: Readonly<Record<string, string>> = {
  EEXIST: 'there is something of that name, and it is not overwritten',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of the path is no folder',
  EISDIR: 'this is a folder',
};

/** Makes the file (0600, empty). A file that exists is never touched. */
export async function reservedFile(path: string): Promise<Place> {
  const handle = await open(path, 'wx', 0o600).catch((error: unknown) => {
    const code = faultOf(error);
    const wrong = path === '' ? 'a path is not empty' : WRONG_PATH[code];
    throw wrong === undefined
      ? new CliError(
          'storage',
          `--key-file "${path}": it can't be made (${code}). No key was created.`,
        )
      : usageError(`--key-file "${path}": ${wrong}`);
  });
  async function drop(): Promise<void> {
    await handle.close();
    await rm(path, { force: true });
  }
  return {
    where: `${path}, which only you may read (mode 0600)`,
    drop,
    async keep(secret) {
      const content = `${secret}\n`;
      try {
        await handle.writeFile(content);
        await handle.sync();
        // A full disk can take a write and not keep it.
        if ((await readFile(path, 'utf8')) !== content) throw new Error('not kept');
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
 * Makes ready to keep the new key in a profile, with the address and the account of the key that
 * asks for it. Asks before a key or an address that is stored there is replaced.
 */
export async function profilePlace(name: string, context: Context): Promise<Place> {
  checked('--save-profile', name, profileName);
  const { sandbox, baseUrl, profile, account } = await context.settings();
  if (sandbox || baseUrl === undefined) {
    throw usageError(
      `--save-profile "${name}": the ${SANDBOX} serves itself, so a key of it is no use in a profile`,
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

/** Runs under the file's lock: what was not there when the question was asked is not replaced. */
function refuseChanged(file: ConfigFile, name: string, before: Profile | undefined): void {
  const now = profileOf(file, name);
  if (now?.base_url !== before?.base_url || !samePlace(keyPlace(now), keyPlace(before))) {
    throw new CliError('storage', `the profile "${name}" was changed by another program meanwhile`);
  }
}
