import type { Instance, SshKey } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError, isInterrupt } from '../errors.ts';
import { lazy } from '../lazy.ts';
import { type PrivateHalf, privateHalves } from '../ssh-keys/private-half.ts';
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
  if (open !== undefined) return { file: open.file, needs: 'nothing' };
  const fileOf = (key: SshKey) => halves.find((one) => one.key === key && one.file)?.file;
  const held = halves.find(({ isHeld }) => isHeld);
  if (held !== undefined) return { file: fileOf(held.key), needs: 'agent' };
  // The service hides the public key, so only ssh can find the private key.
  if (halves.some(({ file }) => file === undefined)) return { needs: 'nothing' };
  const [locked] = halves;
  return locked && { file: locked.file, needs: 'passphrase' };
}

/** How to sign in to an instance. */
export interface SignIn {
  readonly how: HowToReach;
  readonly needs: Choice['needs'];
  /** Keys that ssh tries, for a message: `key /home/ann/.ssh/work`. */
  readonly tried: string;
}

export type FindSignIn = (instance: Instance) => Promise<SignIn>;

/** Completes the flags with an earlier sign-in to an instance. */
export type Earlier = (id: string, flags: HowToReach) => Promise<HowToReach>;

/**
 * Finds how to sign in to instances: with the flags, an earlier sign-in, or the private key of one
 * of the instance's keys. Looks for each key once.
 */
export function signInFinder(flags: HowToReach, context: Context, earlier?: Earlier): FindSignIn {
  const all = lazy(async () => (await context.api()).sshKeys.list());
  const found = new Map<string, Promise<Omit<SignIn, 'how'> & Choice>>();

  /** Reads the account's keys only if the instance does not show its public keys. */
  async function keysOf({ ssh_keys }: Instance): Promise<readonly SshKey[]> {
    const shown = (ssh_keys ?? []).flatMap((key) => (key.id == null ? [] : { ...key, id: key.id }));
    if (shown.every(({ public_key }) => public_key)) return shown;
    return (await all()).filter(({ id }) => shown.some((key) => key.id === id));
  }

  async function choose(instance: Instance): Promise<Omit<SignIn, 'how'> & Choice> {
    const halves = await privateHalves(await keysOf(instance), context);
    const choice = chooseKey(halves);
    if (choice === undefined) {
      return {
        needs: 'nothing',
        tried: `${DEFAULTS}; this computer has no private key for the instance`,
      };
    }
    const { file = halves[0]?.key.name ?? halves[0]?.key.id } = choice;
    const locked =
      choice.needs === 'passphrase' ? ', which has a passphrase and is not in the SSH agent' : '';
    return { ...choice, tried: `key ${file}${locked}` };
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
function unknownKeys(error: unknown): Omit<SignIn, 'how'> & Choice {
  if (!(error instanceof CliError) || isInterrupt(error)) throw error;
  return { needs: 'nothing', tried: DEFAULTS };
}
