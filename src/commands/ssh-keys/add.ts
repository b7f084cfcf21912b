import type { SshKey } from '../../api/index.ts';
import { onCancel } from '../../command-line/confirm.ts';
import { brokenBy, refuseSecret } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { gpucloud, shellLine } from '../../output/shell-line.ts';
import { anyName } from '../../rules/names.ts';
import { addKey, type NewKey, registered } from '../../ssh-keys/add.ts';
import { chooseKeyFile } from '../../ssh-keys/choose.ts';
import { checkedName, keyIn, nameFor } from '../../ssh-keys/read.ts';
import { sshKeyView } from './view.ts';

export const add = verb({
  aliases: ['create'],
  summary: 'Add a public SSH key',
  tool: { allow: 'all', idempotent: true },
  view: sshKeyView,
  notes:
    'Accepts RSA, Ed25519 and ECDSA keys in OpenSSH format, and checks them before sending. ' +
    'Rejects private keys. In a terminal without FILE, offers the keys in ~/.ssh and a new key.\n\n' +
    'Adding the same key again succeeds, but the key keeps its name. With --default, exits with 5 if ' +
    'the existing key is not the default.',
  completes: { '--name': 'nothing' },
  examples: [
    'gpucloud ssh-keys add ~/.ssh/id_ed25519.pub',
    'gpucloud ssh-keys add ~/.ssh/id_ed25519.pub --name laptop --default',
    'ssh-add -L | head -n 1 | gpucloud ssh-keys add - --name agent',
  ],
  takes: (command) =>
    command
      .argument('[file]', 'public key file, such as ~/.ssh/id_ed25519.pub; - for stdin')
      .option('--name <name>', 'key name (default: the comment in the key, or the file name)')
      .option('--default', 'use the key by default for new instances')
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
    const { stored, isNew } = await addKey(wanted, context, await context.api());
    if (!isNew) noteName(stored, given, context);
    // Skips the result in a terminal, where the note is enough.
    if (!context.out.people || !context.out.terminal) await context.out.item(stored, sshKeyView);
    if (wanted.isDefault && stored.is_default !== true && !isNew) throw notDefault(stored);
  },
});

/** Asks for a local key, its name, and whether to make it the default. */
async function askKey(
  given: string | undefined,
  isDefault: boolean,
  context: Context,
): Promise<NewKey> {
  const prompts = await context.prompts();
  if (prompts === undefined) {
    throw usageError(
      'FILE is missing: pass a public key file, such as ~/.ssh/id_ed25519.pub, or - for stdin',
    );
  }
  const account = await (await context.api()).sshKeys.list();
  const file = (await chooseKeyFile('Which key?', { account }, prompts, context)) ?? '';
  const wanted = await readKey(file, given, isDefault, context);
  const { key, name: initial } = wanted;
  // Asks nothing more about an existing key: the API can't change its name or default flag.
  if ((await registered(key, account)) !== undefined) return wanted;
  const check = brokenBy(anyName);
  const name = given ?? checkedName(await prompts.text('Name', { initial, check }));
  return {
    key,
    name,
    isDefault: isDefault || (await prompts.confirm('Use by default for new instances?', false)),
  };
}

async function readKey(
  file: string,
  given: string | undefined,
  isDefault: boolean,
  context: Context,
): Promise<NewKey> {
  const key = await keyIn(file, context);
  return { key, name: given ?? nameFor(key, file), isDefault };
}

/** Notes that an existing key keeps its name, since the API can't rename keys. */
function noteName(stored: SshKey, name: string | undefined, { err }: Context): void {
  if (name === undefined || name === stored.name) return;
  const kept = stored.name ?? stored.id;
  err.note(
    `It keeps the name ${kept}, since keys can't be renamed. To select it: ${shellLine(['--ssh-key', kept])}`,
  );
}

/**
 * Builds the error for --default with an existing key that is not the default. Only POST /ssh-keys
 * sets the flag, and the document does not define a second POST of the same key. Reporting success
 * would let people rent instances with another key.
 */
function notDefault({ id, name }: SshKey): CliError {
  return new CliError(
    'wrongState',
    `Key ${name ?? id} is already in the account and can't be made the default.`,
    {
      hint: `select it when you rent: ${gpucloud('instances', 'create', '--ssh-key', id)}; or delete it and add it again with --default: ${gpucloud('ssh-keys', 'delete', id)}`,
      resource: id,
    },
  );
}

/** Matches a flag that may be a typo. Other words that start with a hyphen may be part of a key. */
const FLAG = /^--?[A-Za-z][A-Za-z-]{0,30}(?==|$)/;

/**
 * Rejects unknown flags, extra arguments, and a key in place of a file, since commander would print
 * them.
 */
function checkArguments(args: readonly string[]): void {
  for (const text of args) {
    refuseSecret('FILE', text);
  }
  const stray = args.find((text) => text.startsWith('-') && text !== '-');
  if (stray !== undefined) {
    const flag = FLAG.exec(stray)?.[0];
    throw usageError(
      flag === undefined ? 'unknown option (value hidden)' : `unknown option '${flag}'`,
      `see the options: ${gpucloud('ssh-keys', 'add', '--help')}`,
    );
  }
  if (args.length > 1) {
    throw usageError(
      `too many arguments: expected one FILE, got ${args.length}`,
      'to read the key from stdin, use -',
    );
  }
  const [file] = args;
  if (file !== undefined && /[\r\n]|^(ssh|ecdsa|sk)-\S+ +AAAA/.test(file)) {
    throw usageError(
      'FILE: must be a file, not the key itself (value hidden)',
      'to read the key from stdin, use -',
    );
  }
}
