import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Instance, SshKey } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError, isInterrupt } from '../errors.ts';
import { lazy } from '../lazy.ts';
import { type PrivateHalf, privateHalves } from '../ssh-keys/private-half.ts';
import { privateFolder, replaceFile } from '../system/files.ts';
import type { WaitTimes } from '../watch/flags.ts';
import type { SshOptions } from './ssh-argv.ts';

export interface HowToReach extends Omit<SshOptions, 'knownHosts' | 'proxy'> {
  readonly user: string | undefined;
  readonly port: number | undefined;
  /** Time limits for the SSH wait; undefined to connect at once. */
  readonly wait: WaitTimes | undefined;
}

/** The private key that enters an instance. */
export interface Choice {
  readonly key: SshKey;
  /** The key file. ssh gets it even if the agent holds the key, so that ssh offers no other key. */
  readonly file?: string | undefined;
  /** What ssh needs beside the file: the agent's key, or a passphrase. */
  readonly needs: 'nothing' | 'agent' | 'passphrase';
}

/**
 * Chooses among the private keys of an instance: a file without a passphrase, else a key in the
 * agent, else a file with a passphrase. Returns undefined if none is on this computer.
 */
export function chooseKey(halves: readonly PrivateHalf[]): Choice | undefined {
  const open = halves.find(({ file, isLocked }) => file !== undefined && !isLocked);
  if (open !== undefined) return { key: open.key, file: open.file, needs: 'nothing' };
  const fileOf = (key: SshKey) => halves.find((one) => one.key === key && one.file)?.file;
  const held = halves.find(({ isHeld }) => isHeld);
  if (held !== undefined) return { key: held.key, file: fileOf(held.key), needs: 'agent' };
  // The service hides the public key, so only ssh can find the private key.
  const hidden = halves.find(({ file }) => file === undefined);
  if (hidden !== undefined) return { key: hidden.key, needs: 'nothing' };
  const [locked] = halves;
  return locked && { key: locked.key, file: locked.file, needs: 'passphrase' };
}

/** A choice among keys, with all their private keys on this computer. */
export interface Found {
  readonly choice: Choice | undefined;
  readonly halves: readonly PrivateHalf[];
}

/**
 * Finds the private key of one of the keys. For a key that is only in the agent, stores the public
 * key, whose file makes ssh offer no other key of the agent: servers refuse after a few.
 */
export async function findKey(keys: readonly SshKey[], context: Context): Promise<Found> {
  const halves = await privateHalves(keys, context);
  const choice = chooseKey(halves);
  if (choice?.needs !== 'agent' || choice.file !== undefined) return { choice, halves };
  const file = await publicKeyFile(choice.key.public_key ?? '', context);
  return { choice: { ...choice, file }, halves };
}

/** Returns undefined if the key can't be stored, since ssh may still find it in the agent. */
async function publicKeyFile(key: string, context: Context): Promise<string | undefined> {
  const [type, blob = ''] = key.trim().split(/\s+/);
  const name = createHash('sha256').update(blob).digest('hex').slice(0, 16);
  const path = join((await context.folders()).state, 'ssh', `${name}.pub`);
  try {
    await privateFolder(dirname(path));
    await replaceFile(path, `${type} ${blob}\n`);
    return path;
  } catch {
    return undefined;
  }
}

/** How to sign in to an instance. */
export interface SignIn {
  readonly how: HowToReach;
  readonly needs: Choice['needs'];
  /** Keys that ssh tries, for a message: `key /home/ann/.ssh/work`. */
  readonly tried: string;
}

type Chosen = Omit<SignIn, 'how'> & Pick<Choice, 'file'>;

export type FindSignIn = (instance: Instance) => Promise<SignIn>;

/** Completes the flags with an earlier sign-in to an instance. */
export type Earlier = (id: string, flags: HowToReach) => Promise<HowToReach>;

/**
 * Finds how to sign in to instances: with the flags, an earlier sign-in, or the private key of one
 * of the instance's keys. Looks for each key once.
 */
export function signInFinder(flags: HowToReach, context: Context, earlier?: Earlier): FindSignIn {
  const all = lazy(async () => (await context.api()).sshKeys.list());
  const found = new Map<string, Promise<Chosen>>();

  /** Reads the account's keys only if the instance does not show its public keys. */
  async function keysOf({ ssh_keys }: Instance): Promise<readonly SshKey[]> {
    const shown = (ssh_keys ?? []).flatMap((key) => (key.id == null ? [] : { ...key, id: key.id }));
    if (shown.every(({ public_key }) => public_key)) return shown;
    return (await all()).filter(({ id }) => shown.some((key) => key.id === id));
  }

  async function choose(instance: Instance): Promise<Chosen> {
    const { choice } = await findKey(await keysOf(instance), context);
    if (choice === undefined) {
      return {
        needs: 'nothing',
        tried: `${DEFAULTS}; this computer has no private key for the instance`,
      };
    }
    const { key, file, needs } = choice;
    const shown = needs === 'agent' || file === undefined ? (key.name ?? key.id) : file;
    const locked =
      needs === 'passphrase' ? ', which has a passphrase and is not in the SSH agent' : '';
    return { file, needs, tried: `key ${shown}${locked}` };
  }

  return async (instance) => {
    const how = earlier === undefined ? flags : await earlier(instance.id, flags);
    if (how.identity !== undefined) {
      return { how, needs: 'nothing', tried: `key ${how.identity}` };
    }
    const keys = (instance.ssh_keys ?? []).map(({ id }) => id).join();
    const cached = found.get(keys) ?? choose(instance).catch(unknownKeys);
    found.set(keys, cached);
    const { file, ...rest } = await cached;
    return { how: { ...how, identity: file }, ...rest };
  };
}

const DEFAULTS = 'the keys that ssh tries by default';

/** Returns no key, since ssh may still find one by itself. */
function unknownKeys(error: unknown): Chosen {
  if (!(error instanceof CliError) || isInterrupt(error)) throw error;
  return { needs: 'nothing', tried: DEFAULTS };
}
