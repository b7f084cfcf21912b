import { clean } from '../../rules/clean.ts';
import type { Cell, Column, Kind, Section } from '../output.ts';
import { cleanLines } from '../sanitise.ts';
import { withProfile } from '../shell-line.ts';
import { wrapped } from '../width.ts';
import { cellText, checkColour, detailText, kindColour } from './kinds.ts';
import { type Labelled, labelledText, labelWidth } from './layout.ts';
import type { TableStyle } from './row-writers.ts';

interface Block {
  readonly heading: string | undefined;
  readonly rows: Labelled[];
}

/** Shows all columns as lines, including hidden columns: `PER HOUR` is labelled `Per hour`. */
export function sectionOf<T>(columns: readonly Column<T>[]): Section<T> {
  return {
    lines: (value) =>
      columns.map(({ header, kind, value: cell }) => ({
        label: labelOf(header),
        value: cell(value),
        ...(kind === undefined ? {} : { kind }),
      })),
  };
}

const ACRONYMS = /\b(api|cuda|gpus?|id|ssh|url|vram)\b/gi;

function labelOf(header: string): string {
  const label = header.charAt(0) + header.slice(1).toLowerCase();
  return label.replace(ACRONYMS, (word) => word.toUpperCase());
}

/** Shows one object in sections, with all values aligned in one column. */
export function detailsText<T>(
  value: T,
  sections: readonly Section<T>[],
  style: TableStyle,
): string {
  const blocks: Block[] = [];
  for (const { heading, lines } of sections) {
    const last = heading === undefined ? blocks.at(-1) : undefined;
    const block = last ?? { heading, rows: [] };
    const indent = block.heading === undefined ? '' : '  ';
    for (const { label, value: cell, kind: given } of lines(value)) {
      const kind = given === 'mark' ? 'yes' : given;
      const text = cleanLines(withProfile(detailText(cell, kind, style), style.profile)).trimEnd();
      if (text !== '') block.rows.push(rowOf(`${indent}${clean(label)}`, text, kind, style));
    }
    if (last === undefined && block.rows.length > 0) blocks.push(block);
  }
  const edge = labelWidth(blocks.flatMap(({ rows }) => rows));
  return blocks
    .map(({ heading, rows }) => {
      const head = heading === undefined ? '' : `${style.paint('bold', clean(heading))}\n`;
      return head + labelledText(rows, style.cells, edge);
    })
    .join('\n');
}

/**
 * Shows one row as its columns, one line each; with `--no-header` only the values, so `--columns
 * status --no-header` prints one word.
 */
export function columnsText<T>(value: T, columns: readonly Column<T>[], style: TableStyle): string {
  const rows = columns.map((column) => {
    const text = textOrDash(column.value(value), column.kind, style);
    return rowOf(clean(column.header), text, column.kind, style);
  });
  if (style.header) return labelledText(rows, style.cells);
  return rows.map(({ lines }) => `${lines(Number.POSITIVE_INFINITY).join('\n')}\n`).join('');
}

function textOrDash(value: Cell, kind: Kind | undefined, style: TableStyle): string {
  const text = style.header ? clean(detailText(value, kind, style)) : cellText(value, kind, style);
  return text === '' ? '-' : text;
}

function rowOf(
  label: string,
  text: string,
  kind: Kind | undefined,
  { paint }: TableStyle,
): Labelled {
  const colour = kindColour(text, kind);
  return {
    label: `${label}:`,
    lines(room) {
      const hang = (line: string) => (kind === 'check' && !line.startsWith(' ') ? 6 : 0);
      const lines = text.split('\n').flatMap((line) => wrapped(line, room, hang(line)).split('\n'));
      if (kind !== 'check') return lines.map((line) => paint(colour, line));
      const mark = /\S+/;
      return lines.map((line, at) =>
        at > 0 ? line : line.replace(mark, (word) => paint(checkColour(word), word)),
      );
    },
  };
}
