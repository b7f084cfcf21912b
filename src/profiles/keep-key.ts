import { shellLine } from '../cli/shell-line.ts';
import type { ConfigFile } from '../config/file.ts';
import { profileOf } from '../config/file.ts';
import { type KeyPlace, keyPlace, type Store, samePlace } from '../config/key.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';

export interface NewKey {
  /** The profile that it is for. */
  readonly profile: string;
  readonly key: string;
  /** Where it shall rest; undefined for the keyring where there is one, and else the file. */
  readonly store: Store | undefined;
  /** The command that prints it, where it rests with a password manager. */
  readonly command?: readonly string[] | undefined;
}

/**
 * Puts a key where it shall rest, and then has the config file name that place. What it replaces
 * stands until the file is written; an entry of the keyring that nothing names is taken out again.
 *
 * Answers the file as it is then, and a sentence that says where the key rests.
 * Throws CliError('storage') where a keyring that was asked for can't keep it.
 */
export async function keepKey(
  wanted: NewKey,
  edit: (file: ConfigFile, place: KeyPlace) => ConfigFile,
  context: Context,
): Promise<{ readonly file: ConfigFile; readonly told: string }> {
  const { profile } = wanted;
  const config = await context.config();
  const { place, told } = await placeFor(wanted, config.path, context);
  let before: KeyPlace | undefined;
  let file: ConfigFile;
  try {
    file = await config.change((now) => {
      const there = profileOf(now, profile);
      before = there === undefined ? undefined : keyPlace(there);
      return edit(now, place);
    });
  } catch (error) {
    await forgetKey(profile, place, context);
    throw error;
  }
  if (!samePlace(before, place)) await forgetKey(profile, before, context);
  return { file, told };
}

async function placeFor(
  { profile, key, store, command }: NewKey,
  path: string,
  context: Context,
): Promise<{ place: KeyPlace; told: string }> {
  if (command !== undefined) {
    return {
      place: { kind: 'command', argv: command },
      told: `The key stays where it is: each command asks for it with "${shellLine(command)}".`,
    };
  }
  const inFile = `The key rests in ${path}, which only you may read (mode 0600)`;
  if (store === 'file') return { place: { kind: 'file', key }, told: `${inFile}.` };
  try {
    const place = await (await context.keys()).putIntoKeyring(profile, key);
    return { place, told: `The key rests in the system keyring, as "${place.entry}" of gpucloud.` };
  } catch (error) {
    if (store === 'keyring' || !(error instanceof CliError) || error.failure !== 'storage') {
      throw error;
    }
    return { place: { kind: 'file', key }, told: `${inFile}. ${error.message}` };
  }
}

/** Takes a key that nothing names any more out of its place; where that fails, it is told. */
export async function forgetKey(
  profile: string,
  place: KeyPlace | undefined,
  context: Context,
): Promise<void> {
  if (place?.kind !== 'keyring') return;
  try {
    await (await context.keys()).remove(profile, place);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    context.err.warn([error.message, error.hint].filter(Boolean).join(' '));
  }
}
