import stringWidth from 'string-width';

/** Other than characters that take one cell each; those make up nearly all text, and need no measuring. */
const NOT_SINGLE =
  /[^\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u20bd]/;

/** Besides, characters that always take two: Han, kana, Hangul syllables, full-width forms. */
const KNOWN =
  /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u20bd\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]*$/;

/** Terminal cells that a clean line takes. */
export function width(text: string): number {
  return NOT_SINGLE.test(text) ? stringWidth(text) : text.length;
}

/** Whether every table of widths, however old, agrees on this text. */
export function widthIsUndisputed(text: string): boolean {
  return KNOWN.test(text);
}

/** At most `limit` cells, the last one `…` where something was cut off. */
export function clamp(text: string, limit: number): string {
  if (width(text) <= limit) return text;
  const room = Math.max(limit, 1) - 1;
  if (!NOT_SINGLE.test(text)) return `${text.slice(0, room)}…`;
  const kept: string[] = [];
  let used = 0;
  for (const point of text) {
    used += stringWidth(point);
    if (used > room) break;
    kept.push(point);
  }
  // Some characters are wider together than alone.
  while (stringWidth(kept.join('')) > room) kept.pop();
  return `${kept.join('')}…`;
}

/** How many spaces bring a text to `cells` cells. */
export function padding(text: string, cells: number): string {
  return ' '.repeat(Math.max(0, cells - width(text)));
}

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
