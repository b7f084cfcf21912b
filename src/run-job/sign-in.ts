import type { CreateInstanceBody, SshKey } from '../api/index.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import type { HowToReach } from '../reach/reach.ts';
import { ensureSandboxSsh } from '../reach/sandbox-proxy.ts';
import {
  ensureUnlocked,
  lockedKeyError,
  printedBy,
  privateHalves,
} from '../ssh-keys/private-half.ts';

/** Checks the requirements of a job on this computer. Throws before anything is rented. */
export async function ensureSsh(
  { options, words }: Pick<HowToReach, 'options' | 'words'>,
  context: Context,
): Promise<void> {
  await ensureSandboxSsh(context);
  const { code, errors } = await printedBy('ssh', ['-V'], context);
  const [why = ''] = errors.trim().split(/\r?\n/);
  if (code !== 0) {
    throw usageError(
      `gpucloud run needs ssh, but ${why ? `it failed: ${why}` : 'could not start it'}`,
    );
  }
  if (options.length === 0 && words.length === 0) return;
  const given = [...words, ...options.flatMap((option) => ['-o', option])];
  // With -G, ssh only parses its options.
  const parsed = await printedBy('ssh', ['-G', ...given, 'localhost'], context);
  if (parsed.code === 0) return;
  const [reason = ''] = parsed.errors.trim().split(/\r?\n/);
  throw usageError(`--ssh-option, --ssh-arg: ssh rejects them: ${reason}`);
}

/** Checks that ssh can sign in, and adds the private key file to use. Throws a usage error. */
export async function ensureSignIn(
  { ssh_keys: ids = [] }: CreateInstanceBody,
  how: HowToReach,
  context: Context,
): Promise<HowToReach> {
  if (ids.length === 0) throw usageError('--ssh-key is missing: run needs a key to sign in');
  if (how.identity !== undefined) {
    await ensureUnlocked(how.identity, context);
    return how;
  }
  const keys = await (await context.api()).sshKeys.list();
  const chosen = keys.filter(({ id }) => ids.includes(id));
  return { ...how, identity: await findPrivateKey(chosen, context) };
}

/**
 * Checks that ssh can sign in without a prompt: the private key of one of the keys is in ~/.ssh
 * without a passphrase, or in the agent. Returns the file, since ssh itself tries only a few names.
 * Throws a usage error otherwise.
 */
async function findPrivateKey(
  keys: readonly SshKey[],
  context: Context,
): Promise<string | undefined> {
  const halves = await privateHalves(keys, context);
  const usable = halves.find(({ isLocked }) => !isLocked);
  if (usable !== undefined) return usable.file;
  const [locked] = halves;
  const names = keys.map(({ name, id }) => name ?? id).join(', ');
  throw locked === undefined
    ? usageError(
        `--ssh-key ${names}: no private key found in ~/.ssh or in the SSH agent`,
        'name the file with --identity, or add the key to the agent: ssh-add FILE',
      )
    : lockedKeyError(locked);
}
