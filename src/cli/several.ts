import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { readStdin } from './input.ts';

/** Stands for the names on stdin where a verb takes several things. */
const STDIN = '-';

/** For the help of the argument, after what it takes. */
export const OR_STDIN = '; - reads them from stdin, one a line';

/**
 * The things that were named, those on stdin in the place of `-`: one a line, blank lines skipped,
 * at most 1 MiB. Nothing on stdin is no error, so that a pipe whose list is empty does nothing.
 * Throws a usage error where stdin is a terminal: whoever sits there would wait for nothing.
 */
export async function severalGiven(
  argument: string,
  typed: readonly string[],
  context: Context,
): Promise<readonly string[]> {
  const at = typed.indexOf(STDIN);
  if (at < 0) {
    return typed;
  }
  if (typed.indexOf(STDIN, at + 1) >= 0) {
    throw usageError(`${argument} "-": stdin can be read once only`);
  }
  if (context.stdin.isTTY === true) {
    throw usageError(
      `${argument} "-": stdin is a terminal`,
      'pipe a list into it: gpucloud instances list -q | gpucloud instances stop -',
    );
  }
  const text = await readStdin(argument, context);
  const lines = text.split('\n').map((line) => line.trim());
  const named = lines.filter((line) => line !== '');
  if (named.length === 0) {
    context.err.note('Nothing is named on stdin.');
  }
  return [...typed.slice(0, at), ...named, ...typed.slice(at + 1)];
}
