import type { Context } from '../context.ts';
import { nearest, nearestFirst } from '../rules/nearest.ts';
import { brokenRule, commaList, repeated } from './parse.ts';

/**
 * A parser for `--type`: types of the API document in letters of either case, several by commas or
 * by the flag again. New types may come, so that words unlike them are let through.
 */
export function typesOf(documented: readonly string[]) {
  const each = commaList('--type');
  return repeated((text: string, before: string[] = []): string[] => {
    const words = each(text);
    const given = words.map(capitals);
    if (!given.every((word) => /^[A-Z_]{1,40}$/.test(word))) {
      throw brokenRule('--type', text, `it is a list of ${documented.join(', ').toLowerCase()}`);
    }
    for (const word of words) refuseMistyped('--type', word, documented);
    return [...new Set([...before, ...given])];
  });
}

/** As the document writes its words: `status-change` is STATUS_CHANGE. */
function capitals(word: string): string {
  return word.toUpperCase().replaceAll('-', '_');
}

/** So many letters may be wrong in a slip of the pen. */
const SLIPS = 2;

/**
 * Throws a usage error for a word that is nearly one of the document's: waited for, a slip of the pen
 * would bill until the wait ends, and looked for it would find nothing.
 */
export function refuseMistyped(flag: string, typed: string, documented: readonly string[]): void {
  const word = capitals(typed);
  if (documented.includes(word)) return;
  const meant = nearest(word, nearestFirst(word, documented), SLIPS);
  if (meant === undefined || isAnother(word, meant)) return;
  throw brokenRule(
    flag,
    typed,
    `the API document has no such word (Did you mean ${meant.toLowerCase()}?)`,
  );
}

/** Two letters more than a whole word, or its end alone, are no slip: INACTIVE, RESTARTING, BOOTING. */
function isAnother(word: string, documented: string): boolean {
  return Math.abs(word.length - documented.length) < 2
    ? false
    : word.includes(documented) || documented.endsWith(word);
}

/** The service may have words that the document does not know (it shows new ones as they are). */
export function noteUndocumented(
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
