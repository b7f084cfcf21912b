import stringWidth from 'string-width';

/** Other than characters that take one cell each; those make up nearly all text, and need no measuring. */
const NOT_SINGLE =
  /[^\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u20bd]/;

/** Besides, characters that always take two: Han, kana, Hangul syllables, full-width forms. */
const KNOWN =
  /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u20bd\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]*$/;

export function width(text: string): number {
  return NOT_SINGLE.test(text) ? stringWidth(text) : text.length;
}

/** Whether every table of widths, however old, agrees on this text. */
export function widthIsUndisputed(text: string): boolean {
  return KNOWN.test(text);
}

/** At most `limit` cells; the last one is `…` if the text was cut. */
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

export function padding(text: string, cells: number): string {
  return ' '.repeat(Math.max(0, cells - width(text)));
}

/** A command to be copied, an amount, or a word; with the spaces before it except one. */
const UNIT =
  /(?<=^| )(?: *\S*\d (?:₽|RUB)\S*| *\S*\bgpucloud(?: (?!or |and )[^\s"();,]+)+\S*| *\S+)/g;

/**
 * A clean text in lines of at most `cells` cells, broken between words. A command stays on one line
 * if it fits one. A longer word is left whole, such as an address to be copied, unless `shorten`
 * makes it fit.
 */
export function paragraph(
  text: string,
  cells: number,
  shorten: (word: string) => string = (word) => word,
): string[] {
  if (width(text) <= cells) return [text];
  const units = text.match(UNIT) ?? [];
  const words = units.flatMap((unit) => (width(unit) <= cells ? unit : unit.split(' ')));
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of words) {
    const joined = line === undefined ? word : `${line} ${word}`;
    if (width(joined) <= cells) {
      line = joined;
      continue;
    }
    if (line !== undefined) lines.push(line);
    line = width(word) <= cells ? word.trimStart() : shorten(word.trimStart());
  }
  return [...lines, line ?? ''];
}

/**
 * A message in lines of a terminal, joined by line ends: they begin as the first does, and after it
 * `hang` cells further right. Whole if `columns` is not known.
 */
export function wrapped(text: string, columns: number | undefined, hang = 0): string {
  if (!columns || width(text) <= columns) return text;
  const [indent = ''] = /^ */.exec(text) ?? [];
  const [first = '', ...rest] = paragraph(text.trim(), columns - indent.length);
  // The first line has the room of the hang too.
  const below = paragraph(rest.join(' '), columns - indent.length - hang);
  const lines = rest.length === 0 ? [] : below.map((line) => `${' '.repeat(hang)}${line}`);
  return [first, ...lines].map((line) => `${indent}${line}`).join('\n');
}

/**
 * The columns of a terminal; undefined for anything else, and if they are not known. Some terminals
 * (a container's, an editor's) give their width in COLUMNS only.
 */
export function terminalColumns(
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  env: Readonly<Record<string, string | undefined>>,
): number | undefined {
  if (stream.isTTY !== true) return undefined;
  if (stream.columns !== undefined && stream.columns > 0) return stream.columns;
  return /^[1-9][0-9]{0,4}$/.test(env.COLUMNS ?? '') ? Number(env.COLUMNS) : undefined;
}
