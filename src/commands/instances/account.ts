import type { Api } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';

/**
 * Finds out, once for each key, whose it is, so that machines which were rented with another key of
 * the same account are found too. What fails here is tried again by the next command.
 */
export async function learnAccount(api: Api, context: Context): Promise<void> {
  const { sandbox, account } = await context.settings();
  if (sandbox) {
    return;
  }
  try {
    const rentals = await context.rentals();
    if (account !== undefined) {
      await rentals.learnAccount(account);
    } else if (!(await rentals.isAccountKnown())) {
      await rentals.learnAccount((await api.users.me()).id);
    }
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
  }
}
