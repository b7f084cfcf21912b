import { isInterrupt } from '../errors.ts';

/**
 * Asks, before anything is sent. Whoever leaves is told what that means: `meaning` is a sentence,
 * such as "Nothing was sent, so nothing was rented."
 */
export async function asking<T>(meaning: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isInterrupt(error)) throw error;
    throw error.with(`${error.message} ${meaning}`);
  }
}
