import type { Context } from '../../context.ts';
import { lazy } from '../../lazy.ts';
import type { HowToReach } from '../../ssh/reach.ts';
import type { Earlier } from '../../ssh/sign-in.ts';
import { type JobRecord, readJobs } from '../record/record.ts';

/** Signs in as the run did, unless flags override it. */
export function signInOf(record: JobRecord, given: HowToReach): HowToReach {
  const { options, words, user, identity } = given;
  return {
    ...given,
    identity: identity ?? record.identity ?? undefined,
    user: user ?? record.user ?? undefined,
    options: options.length > 0 ? options : record.ssh_options,
    words: words.length > 0 ? words : record.ssh_words,
  };
}

/** For a sign-in without flags, which does not wait for SSH. */
export const NO_FLAGS: HowToReach = {
  identity: undefined,
  user: undefined,
  options: [],
  words: [],
  port: undefined,
  wait: undefined,
};

/** Signs in as the run did, without waiting for SSH. */
export function sameSignIn(record: JobRecord): HowToReach {
  return signInOf(record, NO_FLAGS);
}

/** Signs in to each instance as its last job did, unless flags override it. */
export function asItsJob(
  context: Context,
  jobs: () => Promise<readonly JobRecord[]> = lazy(() => readJobs(context)),
): Earlier {
  return async (id, flags) => {
    const job = (await jobs()).find((one) => one.id === id);
    return job === undefined ? flags : signInOf(job, flags);
  };
}

/**
 * Signs in with the user and the key of an instance's last job. Other programs than ssh, such as
 * scp, can't use all of its arguments.
 */
export function asUserOfJob(context: Context): Earlier {
  const find = asItsJob(context);
  return async (id, flags) => {
    const { user, identity } = await find(id, flags);
    return { ...flags, user, identity };
  };
}
