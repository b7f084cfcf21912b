import { stringWidth } from './table/string-width.ts';

/**
 * Matches characters that may not take exactly one cell. Most texts contain none and need no
 * measuring.
 */
const NOT_SINGLE =
  /[^\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u20bd]/;

/**
 * Matches the same characters, except those that always take two cells: Han, kana, Hangul
 * syllables, full-width forms.
 */
const KNOWN =
  /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u20bd\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]*$/;

export function width(text: string): number {
  return NOT_SINGLE.test(text) ? stringWidth(text) : text.length;
}

/** Whether all versions of the Unicode width tables agree on the width of this text. */
export function widthIsUndisputed(text: string): boolean {
  return KNOWN.test(text);
}

/** Cuts a text to at most `limit` cells; a cut text ends with `…`. */
export function clamp(text: string, limit: number): string {
  if (width(text) <= limit) return text;
  const room = Math.max(limit, 1) - 1;
  const kept: string[] = [];
  let used = 0;
  for (const point of text) {
    used += width(point);
    if (used > room) break;
    kept.push(point);
  }
  // Some characters are wider together than apart, so measure the whole text.
  while (width(kept.join('')) > room) kept.pop();
  return `${kept.join('')}…`;
}

export function padding(text: string, cells: number): string {
  return ' '.repeat(Math.max(0, cells - width(text)));
}

/**
 * Matches the parts that stay whole (a command to paste, an amount, a word), with all but one of
 * the spaces before them.
 */
const UNIT =
  /(?<=^| )(?: *\S*\d (?:₽|RUB)\S*| *(?:sh -c ")?nohup sh -c '[^']*' >\/dev\/null 2>&1 &"?| *\S*\bgpucloud(?: (?!or |and )[^\s"();,]+)+\S*| *\S+)/g;

/** Matches a command, not a sentence about gpucloud. */
const COMMAND =
  /\bgpucloud (?:--[a-z]|(?:api|api-keys|audit|billing|catalog|commands|completion|doctor|drives|help|instances|jobs|login|logout|mcp|me|profiles|run|sandbox|ssh-keys|status|templates)\b)/;

/**
 * Wraps a clean text to at most `cells` cells, between words. Never wraps a command, so that people
 * can paste it. Keeps a longer word whole, such as a link to copy, unless `shorten` makes it fit.
 */
export function paragraph(
  text: string,
  cells: number,
  shorten: (word: string) => string = (word) => word,
): string[] {
  if (width(text) <= cells) return [text];
  const units = text.match(UNIT) ?? [];
  const isWhole = (unit: string) => width(unit) <= cells || COMMAND.test(unit);
  const words = units.flatMap((unit) => (isWhole(unit) ? unit : unit.split(' ')));
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of words) {
    const joined = line === undefined ? word : `${line} ${word}`;
    if (width(joined) <= cells) {
      line = joined;
      continue;
    }
    if (line !== undefined) lines.push(line);
    line = isWhole(word) ? word.trimStart() : shorten(word.trimStart());
  }
  return [...lines, line ?? ''];
}

/**
 * Wraps a message for a terminal: indents the lines after the first by `hang` more cells. Does not
 * wrap if `columns` is unknown.
 */
export function wrapped(text: string, columns: number | undefined, hang = 0): string {
  if (!columns || width(text) <= columns) return text;
  const indent = text.slice(0, text.search(/[^ ]|$/));
  const [first = '', ...rest] = paragraph(text.trim(), columns - indent.length);
  // The first line has no hanging indent.
  const below = paragraph(rest.join(' '), columns - indent.length - hang);
  const lines = rest.length === 0 ? [] : below.map((line) => `${' '.repeat(hang)}${line}`);
  return [first, ...lines].map((line) => `${indent}${line}`).join('\n');
}

/**
 * Returns the columns of a terminal; undefined if it is not a terminal, or unknown. Some terminals
 * (a container's, an editor's) report their width only in COLUMNS.
 */
export function terminalColumns(
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  env: Readonly<Record<string, string | undefined>>,
): number | undefined {
  if (stream.isTTY !== true) return undefined;
  if (stream.columns !== undefined && stream.columns > 0) return stream.columns;
  return /^[1-9][0-9]{0,4}$/.test(env.COLUMNS ?? '') ? Number(env.COLUMNS) : undefined;
}

/** Matches the marker of a list item or a quote, whose further lines start below its text. */
const MARKER = /^ *(?:[-*+>]|\d+[.)]) +/;

/** Wraps the lines of Markdown between words. Keeps those of code and tables. */
export function wrappedMarkdown(text: string, columns: number): string {
  let isCode = false;
  const shown = text.split('\n').map((line) => {
    const isFence = /^ *(?:```|~~~)/.test(line);
    if (isFence) isCode = !isCode;
    if (isCode || isFence || /^(?: {4}|\|)/.test(line)) return line;
    const marker = MARKER.exec(line)?.[0].trimStart() ?? '';
    return wrapped(line, columns, marker.length);
  });
  return shown.join('\n');
}
