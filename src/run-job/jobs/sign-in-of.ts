import type { HowToReach } from '../../reach/reach.ts';
import type { JobRecord } from '../record/record.ts';

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

/** Signs in as the run did, without waiting for SSH. */
export function sameSignIn(record: JobRecord): HowToReach {
  const none = { identity: undefined, user: undefined, options: [], words: [] };
  return signInOf(record, { ...none, port: undefined, wait: undefined });
}
