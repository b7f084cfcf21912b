import { width } from './width.ts';

/** Narrower than this, breaking makes more lines than sense. */
const NARROWEST = 20;

/**
 * A clean text in lines of at most `room` cells, broken between words; a word that is longer than a
 * line, such as an address to be copied, is left whole.
 */
export function paragraph(text: string, room: number): string[] {
  const limit = Math.max(room, NARROWEST);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && width(longer) > limit) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  return [...lines, line];
}
