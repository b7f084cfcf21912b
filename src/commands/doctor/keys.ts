import { shellLine } from '../../cli/shell-line.ts';
import { type ConfigFile, profileNames, profileOf } from '../../config/file.ts';
import { type KeyPlace, keyPlace } from '../../config/key.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { type Check, fail, notChecked, pass } from './check.ts';

/** Where the key of each profile rests, and whether it can be read there. */
export async function keysCheck(context: Context): Promise<Check> {
  let file: ConfigFile;
  try {
    file = await (await context.config()).read();
  } catch {
    return notChecked('keys', 'the config file can not be used');
  }
  const found = profileNames(file).flatMap((name) => {
    const profile = profileOf(file, name);
    const place = profile === undefined ? undefined : keyPlace(profile);
    return place === undefined ? [] : [{ name, place }];
  });
  if (found.length === 0) return pass('keys', 'no profile has one');
  const told = await Promise.all(found.map(({ name, place }) => oneKey(name, place, context)));
  const words = told.map(({ text }) => text).join('; ');
  const broken = told.find(({ hint }) => hint !== undefined);
  return broken === undefined ? pass('keys', words) : fail('keys', words, broken.hint);
}

async function oneKey(
  name: string,
  place: KeyPlace,
  context: Context,
): Promise<{ text: string; hint?: string }> {
  if (place.kind === 'file') return { text: `${name}: in the config file` };
  // It may ask for a passphrase or a touch; the one in force is run by "api_key".
  if (place.kind === 'command') {
    return { text: `${name}: with "${shellLine(place.argv)}", which is not run for this` };
  }
  try {
    await (await context.keys()).read(name, place);
    return { text: `${name}: in the system keyring, where it can be read` };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return {
      text: `${name}: ${error.message.replace(/\.$/, '')}`,
      hint: error.hint ?? `gpucloud login --profile ${name}`,
    };
  }
}
