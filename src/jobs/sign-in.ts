import type { CreateInstanceBody, SshKey } from '../api/index.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import type { HowToReach } from '../ssh/reach.ts';
import { ensureSandboxSsh } from '../ssh/sandbox-proxy.ts';
import { type Choice, findKey } from '../ssh/sign-in.ts';
import { ensureUnlocked, lockedKeyError, printedBy } from '../ssh-keys/private-half.ts';
import type { JobInput } from './job.ts';

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
  const given = [...words, ...options.flatMap((option) => ['-o', option])];
  const refused = await refusedBy(given, context);
  if (refused === undefined) return;
  const own = given.length === 0 ? refused : await refusedBy([], context);
  throw own === undefined
    ? usageError(`--ssh-option, --ssh-arg: ssh rejects them: ${refused}`)
    : usageError(
        `ssh rejects its configuration: ${own}`,
        'correct the file, or use another one: --ssh-arg=-F/dev/null',
      );
}

/** Returns why ssh rejects its configuration or these arguments. With -G, ssh only parses them. */
async function refusedBy(words: readonly string[], context: Context): Promise<string | undefined> {
  const { code, errors } = await printedBy('ssh', ['-G', ...words, 'localhost'], context);
  if (code === 0) return undefined;
  return errors.trim().split(/\r?\n/)[0] || `ssh -G exited with ${code}`;
}

/**
 * Checks that ssh can sign in, and adds the private key file to use, since ssh itself tries only a
 * few names. Throws a usage error.
 */
export async function ensureSignIn(
  { ssh_keys: ids = [] }: Pick<CreateInstanceBody, 'ssh_keys'>,
  { how, detach }: Pick<JobInput, 'how' | 'detach'>,
  context: Context,
): Promise<HowToReach> {
  if (ids.length === 0) {
    throw usageError(
      'run needs an SSH key to sign in, but the request has none',
      'choose a key of the account: --ssh-key NAME',
    );
  }
  if (how.identity !== undefined) {
    const needs = await ensureUnlocked(how.identity, context);
    ensureWithoutAgent({ needs, detach });
    return how;
  }
  const keys = await (await context.api()).sshKeys.list();
  const chosen = keys.filter(({ id }) => ids.includes(id));
  const { file, needs } = await findPrivateKey(chosen, context);
  ensureWithoutAgent({ needs, detach });
  return { ...how, identity: file };
}

/** Refuses a detached job that only this terminal's SSH agent could finish. */
export function ensureWithoutAgent({
  needs,
  detach,
}: Pick<Choice, 'needs'> & Pick<JobInput, 'detach'>): void {
  if (!detach || needs !== 'agent') return;
  throw usageError(
    '--detach: the key is only usable through your SSH agent, so a scheduled "instances reap" can\'t fetch the results',
    'name a key file without a passphrase: --identity FILE; or omit --detach',
  );
}

/**
 * Checks that ssh can sign in without a prompt: the private key of one of the keys is in ~/.ssh
 * without a passphrase, or in the agent. Throws a usage error otherwise.
 */
async function findPrivateKey(keys: readonly SshKey[], context: Context): Promise<Choice> {
  const { choice, halves } = await findKey(keys, context);
  if (choice !== undefined && choice.needs !== 'passphrase') return choice;
  const [locked] = halves;
  const names = keys.map(({ name, id }) => name ?? id).join(', ');
  throw locked === undefined
    ? usageError(
        `--ssh-key ${names}: no private key found in ~/.ssh or in the SSH agent`,
        'name the file with --identity, add the key to the agent with "ssh-add FILE", or choose another key with --ssh-key',
      )
    : lockedKeyError(locked);
}
