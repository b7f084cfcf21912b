import { clean } from '../output/sanitise.ts';

/** A word of thousands of letters would push the question itself off the screen. */
const LONGEST_WORD = 80;

/** A text of somebody else's, as it may stand in a question: clean, and with no word without an end. */
export function shown(text: string): string {
  const cut = (word: string) => `${[...word].slice(0, LONGEST_WORD - 1).join('')}…`;
  return clean(text).replace(/\S{81,}/gu, cut);
}

/** What a thing is called in a list: its name, or where it has none to see, its id. */
export function titleOf(name: string | null | undefined, id: string): string {
  return name == null || clean(name).trim() === '' ? id : name;
}
