import type { Instance } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError, isInterrupt } from '../errors.ts';
import { lazy } from '../lazy.ts';
import type { HowToReach } from '../reach/reach.ts';
import { signInOf } from '../run-job/jobs/sign-in-of.ts';
import { type JobRecord, readJobs } from '../run-job/record/record.ts';
import { privateHalves } from '../ssh-keys/private-half.ts';

interface SignIn {
  readonly how: HowToReach;
  /** Key that ssh tries, for a message: `key /home/ann/.ssh/work`. */
  readonly tried: string;
}

interface Tried {
  readonly tried: string;
  readonly file?: string;
}

export type FindSignIn = (instance: Instance) => Promise<SignIn>;

/**
 * Finds how to sign in without a prompt. Tries the flags, the sign-in of the instance's job, then
 * the private keys of the instance's keys. Looks for each key once.
 */
export function signInFinder(
  flags: HowToReach,
  context: Context,
  jobs: () => Promise<readonly JobRecord[]> = lazy(() => readJobs(context)),
): FindSignIn {
  const keys = lazy(async () => (await context.api()).sshKeys.list());
  const found = new Map<string, Promise<Tried>>();

  async function privateHalf(ids: readonly string[]): Promise<Tried> {
    const wanted = (await keys()).filter(({ id }) => ids.includes(id));
    const halves = await privateHalves(wanted, context);
    const usable = halves.find(({ isLocked }) => !isLocked);
    if (usable?.file !== undefined) return { file: usable.file, tried: `key ${usable.file}` };
    if (usable !== undefined) return { tried: `key ${usable.key.name ?? usable.key.id}` };
    const [locked] = halves;
    const why =
      locked === undefined
        ? 'this computer has no private key for the instance'
        : `${locked.file} has a passphrase and is not in the SSH agent`;
    return { tried: `the keys that ssh tries by default; ${why}` };
  }

  return async (instance) => {
    const how = withJob(await jobs(), instance, flags);
    if (how.identity !== undefined) return { how, tried: `key ${how.identity}` };
    const ids = (instance.ssh_keys ?? []).flatMap(({ id }) => id ?? []);
    const cached = found.get(ids.join()) ?? privateHalf(ids).catch(unknownKeys);
    found.set(ids.join(), cached);
    const { file, tried } = await cached;
    return { how: { ...how, identity: file }, tried };
  };
}

function withJob(jobs: readonly JobRecord[], { id }: Instance, flags: HowToReach): HowToReach {
  const job = jobs.find((one) => one.id === id);
  return job === undefined ? flags : signInOf(job, flags);
}

/** Returns no key, since ssh may still find one by itself. */
function unknownKeys(error: unknown): Tried {
  if (!(error instanceof CliError) || isInterrupt(error)) throw error;
  return { tried: 'the keys that ssh tries by default' };
}
