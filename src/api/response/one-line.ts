import { clean } from '../../rules/clean.ts';

/** A text from outside as one line that can do nothing to a terminal. */
export function oneLine(text: string): string {
  return clean(text).replace(/\s+/g, ' ').trim();
}

/** At most so many characters, never half of one. */
export function shortened(text: string, most: number): string {
  const characters = [...text.slice(0, most * 2 + 2)];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
}
