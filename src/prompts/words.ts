import { clean } from '../rules/clean.ts';

/**
 * Longest word to show: a word of thousands of letters would push the question itself off the
 * screen.
 */
const LONGEST_WORD = 80;

/** Prepares untrusted text for a question: cleans it and cuts very long words. */
export function shown(text: string): string {
  const cut = (word: string) => `${[...word].slice(0, LONGEST_WORD - 1).join('')}…`;
  return clean(text).replace(/\S{81,}/gu, cut);
}

/**
 * Returns the label of a resource in a list: its name, or its ID if the name is empty or invisible.
 */
export function titleOf(name: string | null | undefined, id: string): string {
  return name == null || clean(name).trim() === '' ? id : name;
}
