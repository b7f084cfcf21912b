import { clean } from '../rules/clean.ts';

/** A word of thousands of letters would push the question itself off the screen. */
const LONGEST_WORD = 80;

/** A text from outside, fit for a question: clean, and without endless words. */
export function shown(text: string): string {
  const cut = (word: string) => `${[...word].slice(0, LONGEST_WORD - 1).join('')}…`;
  return clean(text).replace(/\S{81,}/gu, cut);
}

/** A thing's label in a list: its name, or its id if it has no visible name. */
export function titleOf(name: string | null | undefined, id: string): string {
  return name == null || clean(name).trim() === '' ? id : name;
}
