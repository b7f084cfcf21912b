import type { Context } from '../context.ts';
import { CliError, isInterrupt, usageError } from '../errors.ts';

/**
 * Asks before something that can't be taken back; the default answer is No.
 * `-y` answers yes, and then a question that must be made first is not; one that turns out to be
 * needless is undefined. Where nobody can be asked: usage error, before any request.
 */
export async function confirm(
  context: Context,
  question: string | (() => Promise<string | undefined>),
): Promise<void> {
  if (context.flags.yes === true) {
    return;
  }
  const asked = typeof question === 'string' ? question : await question();
  if (asked === undefined) {
    return;
  }
  const prompts = await context.prompts();
  if (prompts === undefined) {
    throw usageError(`not interactive, so it can't ask for confirmation: add --yes (${asked})`);
  }
  if (!(await onCancel('Nothing was changed.', () => prompts.confirm(asked, false)))) {
    throw new CliError('interrupted', 'Cancelled. Nothing was changed.');
  }
}

/**
 * Asks something before a request is sent. Whoever cancels reads what that means: `meaning` is a
 * sentence, such as "Nothing was sent, so nothing was rented."
 */
export async function onCancel<T>(meaning: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw isInterrupt(error) ? error.with(`${error.message} ${meaning}`) : error;
  }
}
