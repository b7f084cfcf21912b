import type { Api } from '../api/index.ts';
import { eachBounded } from '../bounded.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import type { UnknownRequest } from '../journal/index.ts';

/**
 * As many machines of an unknown key are tried, so many at once: one that can be read is enough, and
 * some of them may be none any more, or never were.
 */
const TRIED = 64;
const AT_ONCE = 8;

/**
 * Finds out, once for each key, whose it is, so that machines which were rented with another key of
 * the same account are found too. What fails here is tried again by the next command; the answer is
 * the first such fault, for which machines may be missing (see {@link tellMissing}).
 *
 * A key that is not used any more tells nothing of itself; but where a machine that it rented can be
 * read with the key in force, both are the same account's. `me` is given where the profile is read anyway.
 */
export async function learnAccount(
  api: Api,
  context: Context,
  me: () => Promise<{ readonly id: string }> = () => api.users.me(),
): Promise<CliError | undefined> {
  const { sandbox, account } = await context.settings();
  if (sandbox) {
    return undefined;
  }
  const journal = await context.journal();
  let fault: CliError | undefined;
  try {
    if (account !== undefined) {
      await journal.learnAccount(account);
    } else if (!(await journal.isAccountKnown())) {
      await journal.learnAccount((await me()).id);
    }
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    fault = error;
  }
  for (const stranger of await journal.strangers()) {
    if (stranger.isLinked) continue;
    try {
      if (!(await isAnyReadable(stranger.machines, api))) continue;
      await journal.adopt(stranger);
      context.err.note('Found machines that were rented with another key of this account.');
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      fault ??= error;
    }
  }
  return fault;
}

/** Answers by which the service says that a machine is not this account's, or is none. */
const NOT_OURS: readonly CliError['failure'][] = ['notFound', 'refused', 'authentication'];

/**
 * Whether one of some machines can be read with the key in force, so that all are its account's.
 * Throws what keeps them from being read, unless the service itself says no.
 */
export async function isAnyReadable(ids: readonly string[], api: Api): Promise<boolean> {
  let fault: CliError | undefined;
  for (let at = 0; at < Math.min(ids.length, TRIED); at += AT_ONCE) {
    const some = await eachBounded(ids.slice(at, at + AT_ONCE), AT_ONCE, async (id) => {
      try {
        await api.instances.get(id);
        return true;
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        const { failure, httpStatus = 0 } = error;
        if (!NOT_OURS.includes(failure) || httpStatus >= 500) fault ??= error;
        return false;
      }
    });
    if (some.includes(true)) return true;
    if (fault !== undefined) throw fault;
  }
  return false;
}

/**
 * Says what the list of machines may lack: those of a key of which nobody could find out whose it
 * is, and requests of unknown outcome that only such a key can settle. True when it said anything.
 */
export async function tellMissing(fault: CliError | undefined, context: Context): Promise<boolean> {
  const strangers = await (await context.journal()).strangers();
  const may = fault !== undefined && strangers.length > 0;
  if (may) {
    context.err.warn(
      `Machines that were rented here with another key may be missing, since it could not be found out whose they are: ${fault.message}`,
    );
  }
  const unknown = strangers.flatMap((stranger) => stranger.unknown);
  if (unknown.length > 0) context.err.warn(strangeWords(unknown));
  return may || unknown.length > 0;
}

/** Requests of a key that is not in force may be this account's; only that key can settle them. */
function strangeWords(unknown: readonly UnknownRequest[]): string {
  const names = [...new Set(unknown.map(({ name }) => name))].join(', ');
  const [was, have, it] =
    unknown.length === 1
      ? ['1 request was', 'has', 'it']
      : [`${unknown.length} requests were`, 'have', 'them'];
  return `${was} made here with another key, perhaps of another account, and ${have} an unknown outcome (${names}). With that key "gpucloud instances recover" settles ${it}; "gpucloud instances untrack NAME" forgets ${it}.`;
}
