import { clean } from '../../rules/clean.ts';

/** Returns outside text as one line that can't control a terminal. */
export function oneLine(text: string): string {
  return clean(text).replace(/\s+/g, ' ').trim();
}

/** Cuts to at most this many characters, never inside one. */
export function shortened(text: string, most: number): string {
  const characters = [...text.slice(0, most * 2 + 2)];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
}
