import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SshKey } from '../api/index.ts';
import type { Context } from '../context.ts';
import { type CliError, usageError } from '../errors.ts';
import { shellLine } from '../output/shell-line.ts';

/** Time limit for a program that prints a few lines, in milliseconds. */
const QUICK = 10_000;

/** Where this computer stores a private key. */
export interface PrivateHalf {
  readonly key: SshKey;
  /**
   * undefined for a key in the SSH agent. Also undefined if the service hides the public key, so
   * that gpucloud can't look for the private key.
   */
  readonly file?: string;
  /** Whether the SSH agent holds the key. */
  readonly isHeld?: true;
  /** Whether the private key has a passphrase. */
  readonly isLocked?: true;
}

/** Finds the private keys on this computer, keys in the agent first. */
export async function privateHalves(
  keys: readonly SshKey[],
  context: Context,
): Promise<PrivateHalf[]> {
  const shown = keys.flatMap((key) => {
    const blob = blobOf(key.public_key ?? '');
    return blob === undefined ? [] : [{ key, blob }];
  });
  const hidden = keys.filter((key) => !shown.some((one) => one.key === key));
  const halves: PrivateHalf[] = hidden.map((key) => ({ key }));
  if (shown.length === 0) return halves;
  const agent = await printedBy('ssh-add', ['-L'], context);
  const held = new Set(agent.text.split('\n').map(blobOf));
  for (const { key, blob } of shown) if (held.has(blob)) halves.push({ key, isHeld: true });
  for (const file of await keyFiles(context)) {
    const blob = blobOf(await readFile(`${file}.pub`, 'utf8').catch(() => ''));
    const key = shown.find((one) => one.blob === blob)?.key;
    if (key === undefined) continue;
    const { code } = await printedBy('ssh-keygen', ['-y', '-P', '', '-f', file], context);
    halves.push({ key, file, ...(code === 0 ? {} : { isLocked: true }) });
  }
  return halves;
}

/** Returns the IDs of the keys that may sign in from this computer without a passphrase. */
export function usableKeys(halves: readonly PrivateHalf[]): ReadonlySet<string> {
  return new Set(halves.filter(({ isLocked }) => !isLocked).map(({ key }) => key.id));
}

/**
 * Returns the {@link usableKeys} whose private key is surely on this computer, unlike those whose
 * public key the service hides.
 */
export function keysHere(halves: readonly PrivateHalf[]): ReadonlySet<string> {
  return usableKeys(halves.filter(({ file, isHeld }) => file !== undefined || isHeld));
}

/** Returns the error for a key with a passphrase, in a command that can't prompt for one. */
export function lockedKeyError({ key: { name, id }, file }: PrivateHalf): CliError {
  return lockedError(`--ssh-key ${name ?? id}`, file);
}

function lockedError(flag: string, file = ''): CliError {
  return usageError(
    `${flag}: private key ${file} has a passphrase, and "gpucloud run" can't prompt for it`,
    `add the key to the agent: ${shellLine(['ssh-add', file])}`,
  );
}

/**
 * Rejects the file of `--identity` if it needs a passphrase and the agent doesn't hold the key.
 * Without a public key file, any key of the agent may be the right one. Returns whether ssh needs
 * the agent, as also for a file that has only the public key.
 */
export async function ensureUnlocked(file: string, context: Context): Promise<'nothing' | 'agent'> {
  const opened = await printedBy('ssh-keygen', ['-y', '-P', '', '-f', file], context);
  const own = blobOf(await readFile(file, 'utf8').catch(() => ''));
  if (own === undefined && !opened.errors.includes('incorrect passphrase')) return 'nothing';
  const blob = own ?? blobOf(await readFile(`${file}.pub`, 'utf8').catch(() => ''));
  const agent = await printedBy('ssh-add', ['-L'], context);
  const held = agent.code === 0 ? agent.text.split('\n').map(blobOf) : [];
  if (blob === undefined ? held.length > 0 : held.includes(blob)) return 'agent';
  throw lockedError('--identity', file);
}

/** Returns the key in base64: the middle of `ssh-ed25519 AAAA… comment`. */
function blobOf(line: string): string | undefined {
  return /^(?:ssh|ecdsa|sk)-\S+ +(\S+)/.exec(line.trim())?.[1];
}

/** Returns the private key files that have a public key file beside them. */
async function keyFiles({ host }: Context): Promise<string[]> {
  if (host.home === undefined) return [];
  const folder = join(host.home, '.ssh');
  const names = await readdir(folder).catch((): string[] => []);
  return names
    .filter((name) => name.endsWith('.pub') && names.includes(name.slice(0, -4)))
    .sort()
    .map((name) => join(folder, name.slice(0, -4)));
}

/** Runs a program and returns what it printed; empty if the program is missing. */
export async function printedBy(file: string, args: readonly string[], { start }: Context) {
  let text = '';
  let errors = '';
  const hear = (part: string, from: 'stdout' | 'stderr') => {
    if (from === 'stdout') text += part;
    else errors += part;
  };
  const running = start({ file, args, hear, timeout: QUICK });
  const code = await running.then(({ ended }) => ended).catch(() => 127);
  return { code, text, errors };
}
