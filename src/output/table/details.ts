import { clean } from '../../rules/clean.ts';
import type { Cell, Column, Kind, Section } from '../output.ts';
import { cleanLines } from '../sanitise.ts';
import { padding, width, wrapped } from '../width.ts';
import { checkColour, detailText, kindColour, tableText } from './kinds.ts';
import { trimLines } from './layout.ts';
import type { TableStyle } from './row-writers.ts';

interface Line {
  readonly label: string;
  readonly text: string;
  readonly kind: Kind | undefined;
}

interface Block {
  heading: string | undefined;
  lines: Line[];
}

/** All columns as lines, the hidden ones too: `PER HOUR` is labelled `Per hour`. */
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

/** One object in sections, with all values aligned in one column. */
export function detailsText<T>(
  value: T,
  sections: readonly Section<T>[],
  style: TableStyle,
): string {
  const blocks: Block[] = [];
  for (const section of sections) {
    const lines = section.lines(value).flatMap((line) => {
      const text = cleanLines(
        detailText(line.value, line.kind === 'mark' ? 'yes' : line.kind, style),
      ).trimEnd();
      return text === '' ? [] : [{ label: clean(line.label), text, kind: line.kind }];
    });
    if (lines.length === 0) continue;
    const last = blocks.at(-1);
    if (section.heading === undefined && last !== undefined) last.lines.push(...lines);
    else blocks.push({ heading: section.heading, lines });
  }
  const indent = (block: Block) => (block.heading === undefined ? '' : '  ');
  const edge = Math.max(
    0,
    ...blocks.flatMap((block) => block.lines.map(({ label }) => width(`${indent(block)}${label}`))),
  );
  return blocks
    .map((block) => {
      const heading =
        block.heading === undefined ? '' : `${style.paint('bold', clean(block.heading))}\n`;
      const lines = block.lines.map((line) => lineText(line, indent(block), edge, style));
      return heading + lines.join('');
    })
    .join('\n');
}

/**
 * One row as its columns, a line each; with `--no-header` the bare values, so `--columns status
 * --no-header` prints one word.
 */
export function columnsText<T>(value: T, columns: readonly Column<T>[], style: TableStyle): string {
  const lines = columns.map((column) => ({
    label: style.header ? clean(column.header) : '',
    text: textOrDash(column.value(value), column.kind, style),
    kind: column.kind,
  }));
  if (!style.header) return lines.map((line) => `${painted(line, style)}\n`).join('');
  const edge = Math.max(0, ...lines.map(({ label }) => width(label)));
  return lines.map((line) => lineText(line, '', edge, style)).join('');
}

function textOrDash(value: Cell, kind: Kind | undefined, style: TableStyle): string {
  const text = style.header ? clean(detailText(value, kind, style)) : tableText(value, kind, style);
  return text === '' ? '-' : text;
}

function lineText(line: Line, indent: string, edge: number, style: TableStyle): string {
  const label = `${indent}${line.label}`;
  const margin = ' '.repeat(edge + 3);
  const text = line.text.replace(/^.+$/gm, (part) =>
    wrapped(
      part,
      style.cells - margin.length,
      line.kind === 'check' && !part.startsWith(' ') ? 6 : 0,
    ),
  );
  const value = painted({ ...line, text }, style).replaceAll('\n', `\n${margin}`);
  // An empty line of a readme gets no trailing spaces.
  return `${trimLines(`${label}:${padding(label, edge)}  ${value}`)}\n`;
}

function painted(line: Line, style: TableStyle): string {
  const { text, kind } = line;
  if (kind !== 'check') return style.paint(kindColour(text, kind), text);
  return text.replace(/^\S+/, (mark) => style.paint(checkColour(mark), mark));
}
