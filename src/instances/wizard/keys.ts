import type { SshKey } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import type { Prompts } from '../../prompts/prompts.ts';
import { titleOf } from '../../prompts/words.ts';
import { addKey } from '../../ssh-keys/add.ts';
import { chooseKeyFile } from '../../ssh-keys/choose.ts';
import { keyIn, nameFor } from '../../ssh-keys/read.ts';
import type { CreateFlags } from '../request/given.ts';
import { type Answer, typedBy } from './answer.ts';

/**
 * Asks for keys of the account. If it has none, offers to add one from this computer, unless
 * `dryRun`. `isNeeded`: all `keys` can sign in from here, and one of them must.
 */
export async function askKeys(
  keys: readonly SshKey[],
  { sshKey: before }: CreateFlags,
  { dryRun, isNeeded }: { readonly dryRun: boolean; readonly isNeeded: boolean },
  prompts: Prompts,
  context: Context,
): Promise<Answer> {
  if (keys.length === 0) {
    prompts.print(
      isNeeded
        ? 'The account has no SSH key with its private half on this computer.'
        : "The account has no SSH key. A key can't be added to an instance later.",
    );
    const added = dryRun ? undefined : await addOne(prompts, context);
    return answerOf(added === undefined ? [] : [added], keys);
  }
  const choices = keys.map((key) => ({
    name: titleOf(key.name, key.id),
    about: [key.is_default === true ? 'default' : '', key.fingerprint ?? ''],
    value: key,
    checked: before?.includes(key.id) ?? (key.is_default === true || keys.length === 1),
  }));
  return answerOf(
    await prompts.chooseSeveral('SSH keys', choices, { least: isNeeded ? 1 : 0 }),
    keys,
  );
}

async function addOne(prompts: Prompts, context: Context): Promise<SshKey | undefined> {
  const file = await chooseKeyFile('Add one to the account?', 'No key', prompts, context);
  if (file === undefined) return undefined;
  const key = await keyIn(file, context);
  const added = { key, name: nameFor(key, file), isDefault: false };
  return (await addKey(added, context, await context.api())).stored;
}

function answerOf(chosen: readonly SshKey[], all: readonly SshKey[]): Answer {
  const titles = chosen.map(({ name, id }) => titleOf(name, id));
  return {
    flags: { sshKey: chosen.map(({ id }) => id) },
    typed: { sshKey: chosen.map((key) => typedBy(key, all)) },
    text: titles.length === 0 ? 'none' : titles.join(', '),
  };
}
