import type { Context } from '../context.ts';
import { CliError, isInterrupt, usageError } from '../errors.ts';

/**
 * Asks before an irreversible step; the default is No. Does not ask if the question is undefined.
 * With `-y` it neither asks nor builds a lazy question. If not interactive, throws a usage error
 * before any request.
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
    throw usageError(`not interactive: add --yes to confirm (${asked})`);
  }
  if (!(await onCancel('No changes made.', () => prompts.confirm(asked, false)))) {
    throw new CliError('interrupted', 'Cancelled. No changes made.');
  }
}

/**
 * Runs the prompts before a request. If a prompt is cancelled, adds `meaning` to the message, such
 * as "Nothing was sent, so nothing was rented."
 */
export async function onCancel<T>(meaning: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw isInterrupt(error) ? error.with(`${error.message} ${meaning}`) : error;
  }
}
