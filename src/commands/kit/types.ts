import type { Context } from '../../context.ts';
import { brokenRule, commaList, repeated } from './parse.ts';

/**
 * A parser for `--type`: types of the API document in letters of either case, several by commas or
 * by the flag again. New types may come, so that other words are let through.
 */
export function typesOf(documented: readonly string[]) {
  const each = commaList('--type');
  return repeated((text: string, before: string[] = []): string[] => {
    const given = each(text).map((word) => word.toUpperCase().replaceAll('-', '_'));
    if (!given.every((word) => /^[A-Z_]{1,40}$/.test(word))) {
      throw brokenRule('--type', text, `it is a list of ${documented.join(', ').toLowerCase()}`);
    }
    return [...new Set([...before, ...given])];
  });
}

/** A word that the document does not know may be a slip of the pen. */
export function tellUndocumented(
  types: readonly string[],
  documented: readonly string[],
  { err }: Context,
  what = 'type',
): void {
  const unknown = types.filter((word) => !documented.includes(word));
  if (unknown.length > 0) {
    err.note(`Not a ${what} of the API document, asked for all the same: ${unknown.join(', ')}.`);
  }
}
