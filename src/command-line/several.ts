import { AT_ONCE, eachBounded } from '../concurrency.ts';
import type { Context } from '../context.ts';
import { CliError, failuresOf, isOfOneReading, throwAll } from '../errors.ts';
import type { View } from '../output/output.ts';
import { STDIN, severalGiven } from './input.ts';

/**
 * Returns the name if exactly one was typed, so that it is printed as an object instead of a list.
 */
export function onlyTyped(typed: readonly string[]): string | undefined {
  return typed.length === 1 && typed[0] !== STDIN ? typed[0] : undefined;
}

/** Prints a result, unless a note has already shown it to a person at a terminal. */
export async function unlessNoted(
  { out }: Pick<Context, 'out'>,
  write: () => Promise<void>,
): Promise<void> {
  if (!(out.people && out.terminal)) await write();
}

/**
 * Processes each named item, including names on stdin, and prints the results. After a failure it
 * continues, and throws at the end.
 */
export async function printEach<T extends object>(
  argument: string,
  typed: readonly string[],
  { work, view, noted = false }: Each<T>,
  context: Context,
): Promise<void> {
  const only = onlyTyped(typed);
  if (noted && context.out.people && context.out.terminal) {
    throwAll((await forEach(argument, typed, work, context)).failed);
    return;
  }
  if (only !== undefined) return context.out.item(await work(only), view);
  await showDone(await forEach(argument, typed, work, context), view, context);
}

interface Each<T> {
  work(text: string): Promise<T>;
  readonly view: View<T>;
  /** Whether `work` prints a note, so that a terminal needs no further output. */
  readonly noted?: boolean;
}

interface Done<T> {
  readonly done: readonly T[];
  readonly failed: readonly CliError[];
  /** The typed arguments. A single argument is printed as an object. */
  readonly typed?: readonly string[];
}

/**
 * Prints the results, then throws the failures. Throws them even if printing fails, as on a full
 * disk.
 */
export async function showDone<T>(
  { done, failed, typed = [] }: Done<T>,
  view: View<T>,
  { out }: Pick<Context, 'out'>,
): Promise<void> {
  const one = onlyTyped(typed) !== undefined;
  const isShown = done.length > 0 || (out.format !== 'table' && !one);
  throwAll([...failed, ...(isShown ? await failuresOf(out.list(done, view, { one })) : [])]);
}

/** Processes each item without printing. Both lists keep the items' order. */
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
