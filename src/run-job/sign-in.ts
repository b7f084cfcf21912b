import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CreateInstanceBody, SshKey } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../errors.ts';
import type { HowToReach } from '../reach/reach.ts';
import { isSandbox } from '../watch/ssh-endpoint.ts';

/** Milliseconds for a program that prints a few lines. */
const QUICK = 10_000;

/** Checks what a job needs on this computer. Throws an error before anything is rented. */
export async function ensureSsh(context: Context): Promise<void> {
  if (await isSandbox(context)) {
    throw new CliError('wrongState', 'Sandbox instances have no SSH. Nothing was rented.', {
      hint: 'print the plan with --dry-run, or use a profile with a real account',
    });
  }
  const { code } = await printedBy('ssh', ['-V'], context);
  if (code !== 0) throw usageError('gpucloud run needs ssh, which could not be started');
}

/** Checks that ssh can sign in, and adds the private key file to use. Throws a usage error. */
export async function ensureSignIn(
  { ssh_keys: ids = [] }: CreateInstanceBody,
  how: HowToReach,
  context: Context,
): Promise<HowToReach> {
  if (ids.length === 0) throw usageError('--ssh-key is missing: run signs in with it');
  if (how.identity !== undefined) return how;
  const keys = await (await context.api()).sshKeys.list();
  const chosen = keys.filter(({ id }) => ids.includes(id));
  return { ...how, identity: await findPrivateKey(chosen, context) };
}

/**
 * Checks that ssh can sign in without a prompt: the private half of one of the keys is in ~/.ssh
 * without a passphrase, or in the agent. Returns the file, since ssh itself tries only a few names.
 * Throws a usage error otherwise.
 */
export async function findPrivateKey(
  keys: readonly SshKey[],
  context: Context,
): Promise<string | undefined> {
  const wanted = new Set(keys.flatMap(({ public_key: key }) => blobOf(key ?? '') ?? []));
  // If the service hides the public keys, there is nothing to compare.
  if (wanted.size === 0) return undefined;
  const agent = await printedBy('ssh-add', ['-L'], context);
  if (agent.text.split('\n').some((line) => wanted.has(blobOf(line) ?? ''))) return undefined;
  let locked: string | undefined;
  for (const file of await keyFiles(context)) {
    const half = await readFile(`${file}.pub`, 'utf8').catch(() => '');
    if (!wanted.has(blobOf(half) ?? '')) continue;
    const { code } = await printedBy('ssh-keygen', ['-y', '-P', '', '-f', file], context);
    if (code === 0) return file;
    locked = file;
  }
  const names = keys.map(({ name, id }) => name ?? id).join(', ');
  throw locked === undefined
    ? usageError(
        `--ssh-key ${names}: its private key is neither in ~/.ssh nor in the SSH agent`,
        'name the file with --identity, or add the key to the agent: ssh-add FILE',
      )
    : usageError(
        `--ssh-key ${names}: its private key ${locked} has a passphrase, and a run asks no questions`,
        `add the key to the agent: ssh-add ${locked}`,
      );
}

/** The middle of `ssh-ed25519 AAAA… comment`. */
function blobOf(line: string): string | undefined {
  return /^(?:ssh|ecdsa|sk)-\S+ +(\S+)/.exec(line.trim())?.[1];
}

/** Private key files with their public half beside them. */
async function keyFiles({ host }: Context): Promise<string[]> {
  if (host.home === undefined) return [];
  const folder = join(host.home, '.ssh');
  const names = await readdir(folder).catch((): string[] => []);
  return names
    .filter((name) => name.endsWith('.pub') && names.includes(name.slice(0, -4)))
    .sort()
    .map((name) => join(folder, name.slice(0, -4)));
}

/** A missing program prints nothing. */
async function printedBy(file: string, args: readonly string[], { start }: Context) {
  let text = '';
  const hear = (part: string, from: 'stdout' | 'stderr') => {
    if (from === 'stdout') text += part;
  };
  const code = await start({ file, args, hear, timeout: QUICK }).then(
    ({ ended }) => ended.catch(() => 127),
    () => 127,
  );
  return { code, text };
}
