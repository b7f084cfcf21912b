import type { Context } from '../context.ts';
import { nearest, nearestFirst } from '../rules/nearest.ts';
import { brokenRule, commaList, repeated } from './parse.ts';

/**
 * A parser for a word of the service, in any case. Words unlike any documented one pass, since the
 * service may add some. `rule` completes the error.
 */
export function wordOf(flag: string, documented: readonly string[], rule: string) {
  return (text: string): string => {
    const word = capitals(text);
    if (!/^[A-Z_]{1,40}$/.test(word)) throw brokenRule(flag, text, rule);
    refuseMistyped(flag, text, documented);
    return word;
  };
}

/** A parser for `--type`: types separated by commas or in repeated flags. */
export function typesOf(documented: readonly string[]) {
  const each = commaList('--type');
  const rule = `must be a list of ${documented.join(', ').toLowerCase()}`;
  const word = wordOf('--type', documented, rule);
  return repeated((text: string, before: string[] = []): string[] => [
    ...new Set([...before, ...each(text).map(word)]),
  ]);
}

/** The document's spelling: `status-change` is STATUS_CHANGE. */
function capitals(word: string): string {
  return word.toUpperCase().replaceAll('-', '_');
}

/** Letters that may differ in a typo. */
const SLIPS = 2;

/**
 * Throws a usage error for a probable typo of a documented word. Waiting for a typo would bill until
 * the wait ends, and searching for one would find nothing.
 */
function refuseMistyped(flag: string, typed: string, documented: readonly string[]): void {
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

/** Two extra letters, or only a word's end, are not a typo: INACTIVE, RESTARTING, BOOTING. */
function isAnother(word: string, documented: string): boolean {
  return Math.abs(word.length - documented.length) < 2
    ? false
    : word.includes(documented) || documented.endsWith(word);
}

/** The service may use undocumented words, and may accept them. */
export function noteUndocumented(
  types: readonly string[],
  documented: readonly string[],
  { err }: Context,
  what = 'type',
): void {
  const unknown = types.filter((word) => !documented.includes(word));
  if (unknown.length > 0) {
    err.note(`Not a documented ${what}, sending it anyway: ${unknown.join(', ')}.`);
  }
}
