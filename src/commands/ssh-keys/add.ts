import { basename } from 'node:path';
import type { Api, SshKey } from '../../api/index.ts';
import { onCancel } from '../../cli/confirm.ts';
import { brokenBy } from '../../cli/parse.ts';
import { verb } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { anyName } from '../../rules/names.ts';
import type { PublicKey } from '../../rules/public-key.ts';
import { checkArguments, checkedName, chosenFile, keyIn } from './key-file.ts';
import { sshKeyView } from './view.ts';

export const add = verb('add', {
  aliases: ['create'],
  summary: 'Add a public SSH key',
  view: sshKeyView,
  notes:
    'Accepts RSA, Ed25519 and ECDSA keys in OpenSSH format, and checks them before sending. ' +
    'A private key is refused. In a terminal without FILE, offers the keys in ~/.ssh.\n\n' +
    'Adding the same key again succeeds. With --default it exits with 5 if that key is not ' +
    'the default.',
  completes: { '--name': 'nothing' },
  examples: [
    'gpucloud ssh-keys add ~/.ssh/id_ed25519.pub',
    'gpucloud ssh-keys add ~/.ssh/id_ed25519.pub --name laptop --default',
    'ssh-add -L | head -n 1 | gpucloud ssh-keys add - --name agent',
  ],
  takes: (command) =>
    command
      .argument('[file]', 'public key file, such as ~/.ssh/id_ed25519.pub; - for stdin')
      .option('--name <name>', 'key name (default: its comment or the file name)')
      .option('--default', 'make it the default key of new instances')
      // A private key starts with a hyphen: commander would print it as an unknown option.
      .allowUnknownOption()
      .allowExcessArguments(),
  async run(context, file, flags, { args }) {
    checkArguments(args);
    const given = flags.name === undefined ? undefined : checkedName(flags.name);
    const isDefault = flags.default === true;
    const wanted =
      file === undefined
        ? await onCancel('Nothing was sent, so no key was added.', () =>
            askKey(given, isDefault, context),
          )
        : await readKey(file, given, isDefault, context);
    await addKey(wanted, given, context);
  },
});

interface Wanted {
  readonly key: PublicKey;
  readonly name: string;
  readonly isDefault: boolean;
}

async function readKey(
  file: string,
  given: string | undefined,
  isDefault: boolean,
  context: Context,
): Promise<Wanted> {
  const key = await keyIn(file, context);
  return { key, name: given ?? nameFor(key, file), isDefault };
}

/** In a terminal: which of the keys of this computer, its name, and whether it is the main one. */
async function askKey(
  given: string | undefined,
  isDefault: boolean,
  context: Context,
): Promise<Wanted> {
  const file = await chosenFile(context);
  const found = await readKey(file, given, isDefault, context);
  const prompts = await context.prompts();
  if (prompts === undefined) return found;
  const name =
    given ??
    checkedName(await prompts.text('Name', { initial: found.name, check: brokenBy(anyName) }));
  return {
    key: found.key,
    name,
    isDefault: isDefault || (await prompts.confirm('Main key for new machines?', false)),
  };
}

async function addKey(
  { key, name, isDefault }: Wanted,
  given: string | undefined,
  context: Context,
): Promise<void> {
  const api = await context.api();
  const there = await registered(key, api);
  const stored =
    there ??
    (await api.sshKeys.add({
      name,
      public_key: key.line,
      ...(isDefault ? { is_default: true } : {}),
    }));
  if (there !== undefined) noteExisting(there, given, context);
  else context.err.note(`✓ Added ${stored.name ?? name} (${key.fingerprint})`);
  // In a terminal the note is enough.
  if (!context.out.people || !context.out.terminal) await context.out.item(stored, sshKeyView);
  if (isDefault && there !== undefined && there.is_default !== true) throw notDefault(there);
}

/** The same key in the account. */
async function registered(key: PublicKey, api: Api): Promise<SshKey | undefined> {
  const { sameKey } = await import('../../rules/public-key.ts');
  return (await api.sshKeys.list()).find(
    ({ public_key, fingerprint }) =>
      fingerprint === key.fingerprint || sameKey(public_key ?? '', key.line),
  );
}

function nameFor(key: PublicKey, file: string): string {
  if (key.comment !== '') {
    return checkedName(key.comment);
  }
  if (file === '-') {
    throw usageError('--name is missing: the key on stdin has no comment to name it by');
  }
  return checkedName(basename(file).replace(/(?<=.)\.pub$/, ''));
}

/** The name that was asked for can't be had of a key that is there: the API changes none. */
function noteExisting(there: SshKey, name: string | undefined, { err }: Context): void {
  const called = there.name ?? there.id;
  err.note(`This key is already in the account, as ${called} (${there.fingerprint ?? there.id}).`);
  if (name !== undefined && name !== there.name) {
    err.note(`It keeps the name ${called}: a key can't be renamed.`);
  }
}

/**
 * Whoever asked for the default key and is told of success would rent machines that let another one
 * in. The flag is part of POST /ssh-keys alone, and a second key of the same text is no way to it:
 * the document does not say what the service makes of one.
 */
function notDefault({ id, name }: SshKey): CliError {
  return new CliError(
    'wrongState',
    `The key ${name ?? id} is already in the account and is not the default key. That can't be changed.`,
    {
      hint: `name it when you rent: gpucloud instances create --ssh-key ${id}; or delete it and add it again with --default: gpucloud ssh-keys delete ${id}`,
      resource: id,
    },
  );
}
