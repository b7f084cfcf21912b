import { eachBounded } from '../bounded.ts';
import type { Context } from '../context.ts';
import { CliError, isOfOneReading, throwAll } from '../errors.ts';
import type { View } from '../output/output.ts';
import { STDIN, severalGiven } from './input.ts';

/** As many requests at once as is polite to a service whose rate limits are not documented. */
const AT_ONCE = 4;

/** The one thing that was typed itself: it is printed as an object, all else as a list. */
export function onlyTyped(typed: readonly string[]): string | undefined {
  return typed.length === 1 && typed[0] !== STDIN ? typed[0] : undefined;
}

/**
 * Works on each thing that was named, those on stdin included, and prints what came of it. A failure
 * of one stops no other and is thrown at the end.
 */
export async function printEach<T extends object>(
  argument: string,
  typed: readonly string[],
  { work, view }: { work(text: string): Promise<T>; readonly view: View<T> },
  context: Context,
): Promise<void> {
  const only = onlyTyped(typed);
  if (only !== undefined) return context.out.item(await work(only), view);
  const { done, failed } = await forEach(argument, typed, work, context);
  if (done.length > 0 || context.out.format !== 'table') await context.out.list(done, view);
  throwAll(failed);
}

/** The same without printing; both lists are in the order in which the things were named. */
export async function forEach<T extends object>(
  argument: string,
  typed: readonly string[],
  work: (text: string) => Promise<T>,
  context: Context,
): Promise<{ done: T[]; failed: CliError[] }> {
  const named = new Set(await severalGiven(argument, typed, context));
  const outcomes = await eachBounded([...named], AT_ONCE, (text) =>
    work(text).catch((error: unknown) => {
      if (isOfOneReading(error)) return error;
      throw error;
    }),
  );
  return {
    done: outcomes.filter((one): one is T => !(one instanceof CliError)),
    failed: outcomes.filter((one) => one instanceof CliError),
  };
}
