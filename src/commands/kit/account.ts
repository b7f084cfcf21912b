import type { Api } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { Stranger } from '../../rentals/index.ts';

/** As many machines of an unknown key are tried: one that can be read is enough. */
const TRIED = 3;

/**
 * Finds out, once for each key, whose it is, so that machines which were rented with another key of
 * the same account are found too. What fails here is tried again by the next command.
 *
 * A key that is not used any more tells nothing of itself; but where a machine that it rented can be
 * read with the key in force, both are the same account's. `me` is given where the profile is read anyway.
 */
export async function learnAccount(
  api: Api,
  context: Context,
  me: () => Promise<{ readonly id: string }> = () => api.users.me(),
): Promise<void> {
  const { sandbox, account } = await context.settings();
  if (sandbox) {
    return;
  }
  try {
    const rentals = await context.rentals();
    if (account !== undefined) {
      await rentals.learnAccount(account);
    } else if (!(await rentals.isAccountKnown())) {
      await rentals.learnAccount((await me()).id);
    }
    for (const stranger of await rentals.strangers()) {
      if (await isReadable(stranger, api)) {
        await rentals.adopt(stranger);
        context.err.note('Found machines that were rented with another key of this account.');
      }
    }
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
  }
}

async function isReadable({ machines }: Stranger, api: Api): Promise<boolean> {
  for (const id of machines.slice(0, TRIED)) {
    try {
      await api.instances.get(id);
      return true;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
    }
  }
  return false;
}

/** Requests of a key that is not in force may be this account's; only that key can settle them. */
export async function tellStrangers(context: Context): Promise<void> {
  const strangers = await (await context.rentals()).strangers();
  const unknown = strangers.reduce((sum, stranger) => sum + stranger.unknown, 0);
  if (unknown > 0) {
    context.err.warn(
      `${unknown === 1 ? '1 request was' : `${unknown} requests were`} made here with another key, have an unknown outcome, and nobody knows whose that key is: run "gpucloud instances recover" with it too.`,
    );
  }
}
