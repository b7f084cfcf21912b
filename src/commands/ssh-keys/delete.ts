import type { Api, SshKey } from '../../api/index.ts';
import type { AnyCommand } from '../../cli/command.ts';
import { confirm } from '../../cli/confirm.ts';
import type { Frame } from '../../cli/frame.ts';
import { refuseSecret } from '../../cli/no-secret.ts';
import { OR_STDIN, severalGiven } from '../../cli/several.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, SeveralErrors } from '../../errors.ts';
import { findKey } from './find.ts';
import { sshKeyView } from './view.ts';

export function registerDelete(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: sshKeyView,
    completes: { key: 'ssh-key' },
    notes:
      'A deleted key can no longer be given to new machines. Machines that have it keep it: whoever\n' +
      'holds its private half can still enter them.',
    examples: [
      'gpucloud ssh-keys delete laptop',
      'gpucloud ssh-keys delete SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU --yes',
    ],
  })
    .argument('<key...>', `names, ids, beginnings of ids, or fingerprints${OR_STDIN}`)
    .action((keys, _flags, command) => deleteKeys(keys, frame.context(command)));
}

/** Every key is found before the first is deleted. A failure of one stops no other. */
export async function deleteKeys(given: readonly string[], context: Context): Promise<void> {
  const typed = await severalGiven('KEY', given, context);
  for (const text of typed) {
    refuseSecret('KEY', text);
  }
  if ((await context.prompts()) === undefined) {
    // Where nobody can be asked, this ends before any request, or --yes was given.
    await confirm(context, question(typed));
  }
  const api = await context.api();
  const keys = await found(typed, api);
  await confirm(context, question(keys.map(described)));

  const deleted: SshKey[] = [];
  const errors: CliError[] = [];
  for (const key of keys) {
    try {
      await api.sshKeys.delete(key.id);
      deleted.push(key);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      errors.push(error);
    }
  }
  if (deleted.length > 0) {
    context.err.note(
      `Deleted ${deleted.map(described).join(' and ')}. Machines that have ${deleted.length === 1 ? 'it' : 'them'} already keep ${deleted.length === 1 ? 'it' : 'them'}.`,
    );
  }
  if (deleted.length > 0 || context.out.format !== 'table') {
    await context.out.list(deleted, sshKeyView);
  }
  const [first, ...others] = errors;
  if (first !== undefined) {
    throw others.length === 0 ? first : new SeveralErrors([first, ...others]);
  }
}

/** Each key once, from one reading of the list. */
async function found(typed: readonly string[], api: Api): Promise<SshKey[]> {
  const all = await api.sshKeys.list();
  const keys = new Map<string, SshKey>();
  for (const text of typed) {
    const key = await findKey(text, async () => all);
    keys.set(key.id, key);
  }
  return [...keys.values()];
}

function question(names: readonly string[]): string {
  if (names.length === 0) {
    return 'Delete the SSH keys that stdin names?';
  }
  return `Delete the SSH ${names.length === 1 ? 'key' : 'keys'} ${names.join(' and ')} from the account? Machines that have ${names.length === 1 ? 'it keep it' : 'them keep them'}.`;
}

function described({ name, id, fingerprint }: SshKey): string {
  return `${name ?? id} (${fingerprint ?? id})`;
}
