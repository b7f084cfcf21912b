import type { SshKey } from '../../api/index.ts';
import { onCancel } from '../../command-line/confirm.ts';
import type { Context } from '../../context.ts';
import { type CliError, usageError } from '../../errors.ts';
import { gpucloud, shellLine } from '../../output/shell-line.ts';
import { clamp } from '../../output/width.ts';
import type { Prompts } from '../../prompts/prompts.ts';
import { titleOf } from '../../prompts/words.ts';
import { addKey } from '../../ssh-keys/add.ts';
import { chooseKeyFile } from '../../ssh-keys/choose.ts';
import {
  keysHere,
  lockedKeyError,
  type PrivateHalf,
  privateHalves,
  usableKeys,
} from '../../ssh-keys/private-half.ts';
import { keyIn, nameFor } from '../../ssh-keys/read.ts';
import type { ChooseKeys } from '../rent/body.ts';
import type { CreateFlags } from '../rent/given.ts';

/** Returns the account's key for new instances: its default key, else its only one. */
export function accountKey(
  keys: readonly SshKey[],
): { readonly key: SshKey; readonly why: 'default' | 'only' } | undefined {
  const marked = keys.filter(({ is_default }) => is_default === true);
  const [key, other] = marked.length > 0 ? marked : keys;
  if (key === undefined || other !== undefined) return undefined;
  return { key, why: marked.length > 0 ? 'default' : 'only' };
}

/** What a new instance needs its SSH keys for. */
interface KeyNeed {
  readonly flags: Pick<CreateFlags, 'template' | 'dockerImage' | 'file'>;
  /** Whether the instance is for `run`, which signs in from this computer. */
  readonly isJob: boolean;
  /** Whether `--identity` names the private key. Any key of the account may then fit. */
  readonly hasIdentity: boolean;
  /** The status of `--wait`, or `ssh`. */
  readonly until: string | undefined;
  readonly dryRun: boolean;
}

/**
 * Returns what chooses the SSH keys if neither a flag nor the file does: the account's key, else a
 * person. When not interactive, warns, or throws a usage error if the command has to sign in.
 */
export function keyChooser(need: KeyNeed, context: Context): ChooseKeys {
  const { flags, isJob, until } = need;
  const mustEnter = isJob || until === 'ssh';
  const runsItself = flags.template !== undefined || flags.dockerImage !== undefined;
  return async (keys) => {
    const own = accountKey(keys);
    if (own !== undefined) {
      const { key, why } = own;
      context.err.note(`SSH key: ${titleOf(key.name, key.id)}, the account's ${why} key.`);
      return [key.id];
    }
    // stdin can't contain both the file and the answers.
    const prompts = flags.file === '-' ? undefined : await context.prompts();
    const isAsked = prompts !== undefined && (keys.length > 0 || mustEnter || !runsItself);
    const chosen = isAsked ? await askNow(keys, need, prompts, context) : [];
    if (chosen.length > 0) return chosen.map(({ id }) => id);
    if (mustEnter) throw await noKeyError(keys, context);
    if (!isAsked && (keys.length > 0 || !runsItself)) {
      context.err.warn('no_ssh_key', noKeyText(keys));
    }
    return [];
  };
}

async function askNow(
  keys: readonly SshKey[],
  { isJob, hasIdentity, dryRun }: KeyNeed,
  prompts: Prompts,
  context: Context,
): Promise<SshKey[]> {
  const halves = await privateHalves(keys, context);
  const choices = choosableKeys(keys, halves, isJob && !hasIdentity);
  return onCancel('Nothing was rented.', () =>
    askKeys({ keys: choices, halves, isJob, dryRun, prompts, context }),
  );
}

/** Leaves out the keys that can't sign in from here, if one must. Throws if all need a passphrase. */
export function choosableKeys(
  keys: readonly SshKey[],
  halves: readonly PrivateHalf[],
  mustSignIn: boolean,
): readonly SshKey[] {
  if (!mustSignIn) return keys;
  const usable = usableKeys(halves);
  const [half] = halves;
  if (usable.size === 0 && half !== undefined) throw lockedKeyError(half);
  return keys.filter(({ id }) => usable.has(id));
}

/** Warns before renting for `--wait=ssh` if no private key of the instance is on this computer. */
export async function warnOfKeyElsewhere(
  ids: readonly string[],
  until: string | undefined,
  context: Context,
): Promise<void> {
  if (until !== 'ssh' || ids.length === 0) return;
  const keys = await (await context.api()).sshKeys.list();
  const text = keyElsewhereText(ids, keys, await privateHalves(keys, context));
  if (text !== undefined) context.err.warn('no_ssh_key', text);
}

/** Only a warning, since ssh may find a private key elsewhere, as its configuration says. */
export function keyElsewhereText(
  ids: readonly string[],
  keys: readonly SshKey[],
  halves: readonly PrivateHalf[],
): string | undefined {
  const chosen = keys.filter(({ id }) => ids.includes(id));
  if (chosen.length === 0 || halves.some(({ key }) => ids.includes(key.id))) return undefined;
  return `The private key of ${clamp(namesOf(chosen), 60)} is not in ~/.ssh or in the SSH agent, so you may not be able to log in. You can't add a key to an instance later. If the key is in another file: ${gpucloud('instances', 'ssh', 'NAME', '--identity', 'FILE')}`;
}

function noKeyText(keys: readonly SshKey[]): string {
  return keys.length === 0
    ? `No SSH key: the account has none, so you may not be able to log in. You can't add a key to an instance later. Add one to the account first: ${gpucloud('ssh-keys', 'add', 'FILE')}`
    : `No SSH key: the account has no default key, so you may not be able to log in. You can't add a key to an instance later. Choose one with --ssh-key: ${namesOf(keys)}`;
}

async function noKeyError(keys: readonly SshKey[], context: Context): Promise<CliError> {
  const [first] = keys;
  if (first === undefined) {
    return usageError(
      '--ssh-key is missing, and the account has no SSH key, so gpucloud could not log in. Nothing was sent.',
      `add a key: ${gpucloud('ssh-keys', 'add', 'FILE')}; without one: ssh-keygen -t ed25519`,
    );
  }
  const here = keysHere(await privateHalves(keys, context));
  const own = keys.find(({ id }) => here.has(id));
  const { name, id } = own ?? first;
  const which =
    own === undefined ? 'choose one' : 'choose one whose private key is on this computer';
  return usageError(
    `--ssh-key is missing, and the account has no default key: ${namesOf(keys)}. Nothing was sent.`,
    `${which}: ${shellLine(['--ssh-key', name ?? id], 'linux')}`,
  );
}

function namesOf(keys: readonly SshKey[]): string {
  return keys.map(({ name, id }) => titleOf(name, id)).join(', ');
}

/** Data for the question about keys. */
export interface AskingKeys {
  readonly keys: readonly SshKey[];
  readonly halves: readonly PrivateHalf[];
  /** Whether the instance is for a job, which needs at least one key. */
  readonly isJob: boolean;
  readonly dryRun: boolean;
  readonly prompts: Prompts;
  readonly context: Context;
}

/** Asks for keys of the account. If there are none, offers to add one, except in a dry run. */
export async function askKeys(
  { keys, halves, isJob, dryRun, prompts, context }: AskingKeys,
  isChosen?: (key: SshKey) => boolean,
): Promise<SshKey[]> {
  if (keys.length === 0) {
    prompts.print(
      isJob
        ? 'No SSH key of the account has its private key on this computer.'
        : "The account has no SSH key. A key can't be added to an instance later.",
    );
    const added = dryRun ? undefined : await addOne(prompts, context);
    return added === undefined ? [] : [added];
  }
  const here = keysHere(halves);
  const choices = keys.map((key) => ({
    name: titleOf(key.name, key.id),
    about: [
      key.is_default === true ? 'default' : '',
      here.has(key.id) ? 'on this computer' : '',
      key.fingerprint ?? '',
    ],
    value: key,
    checked: isChosen?.(key) ?? (key.is_default === true || here.has(key.id) || keys.length === 1),
  }));
  return prompts.chooseSeveral('SSH keys', choices, { least: isJob ? 1 : 0 });
}

async function addOne(prompts: Prompts, context: Context): Promise<SshKey | undefined> {
  const file = await chooseKeyFile(
    'Add an SSH key to the account?',
    { none: 'No key', account: [] },
    prompts,
    context,
  );
  if (file === undefined) return undefined;
  const key = await keyIn(file, context);
  const added = { key, name: nameFor(key, file), isDefault: false };
  return (await addKey(added, context, await context.api())).stored;
}
