import { wrapped } from './width.ts';

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
