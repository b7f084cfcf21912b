import type { Paint } from '../colour.ts';
import type { Cell, Column } from '../output.ts';
import { remembering } from '../rows.ts';
import { padding, width } from '../width.ts';
import { isShownRaw, type Reader, shownCell } from './kinds.ts';
import {
  GAP,
  headerCells,
  type Layout,
  type LayoutColumn,
  lineOf,
  NO_CELL,
  placed,
  type Shown,
} from './layout.ts';

export interface TableStyle extends Reader {
  readonly paint: Paint;
  readonly header: boolean;
  /** The profile from a flag; suggested commands in details include it. */
  readonly profile?: string | undefined;
  /** Width of a terminal line in cells; Infinity in a pipe, to cut nothing. */
  readonly cells: number;
}

/** Writes rows one by one, in columns with fixed positions. */
export interface RowWriter<T> {
  readonly head: string;
  row(row: T): string;
}

export function lineWriter<T>(
  columns: readonly Column<T>[],
  layout: Layout,
  style: TableStyle,
  safe: (row: T) => T,
): RowWriter<T> {
  const last = layout.columns.length - 1;
  const writers = layout.columns.map((place, at) =>
    cellWriter(columns[at], place, layout.spare, style, at === last ? '' : ' '.repeat(GAP)),
  );
  const cells = (shown: readonly Shown[]) => lineOf(shown, layout, style.paint);
  return {
    head: style.header ? cells(headerCells(layout)) : '',
    row(row) {
      const masked = safe(row);
      let line = '';
      let end = '';
      for (const writer of writers) {
        end = writer(masked);
        line += end;
      }
      return endsInSpace(end) ? `${line.trimEnd()}\n` : `${line}\n`;
    },
  };
}

/**
 * Pads a cell and adds the gap after it. Most cells are ASCII, which needs no measuring or
 * cleaning; many repeat the cell above them.
 */
function cellWriter<T>(
  column: Column<T> | undefined,
  place: LayoutColumn,
  spare: number,
  style: TableStyle,
  gap: string,
): (row: T) => string {
  const kind = column?.kind;
  const most = place.right ? Number.POSITIVE_INFINITY : place.width + spare;
  const isRaw = isShownRaw(kind, style);
  const filled = gap === '' ? 0 : place.width;
  const cell = (value: Cell) => {
    if (isRaw && typeof value === 'string' && value.length <= most && ASCII.test(value)) {
      return (place.right ? value.padStart(place.width) : value.padEnd(filled)) + gap;
    }
    const text = placed(shownCell(value, kind, style), place, spare, style.paint);
    return text + gap;
  };
  // Don't cache an age, since it keeps changing.
  const text = kind === 'time' && style.terminal ? cell : remembering(cell);
  return (row) => text(column?.value(row));
}

const ASCII = /^[ -~]+$/;

/** The last cell is never empty, so checking one character is enough. */
function endsInSpace(text: string): boolean {
  const code = text.charCodeAt(text.length - 1);
  return code <= 32 || (code > 126 && text.trimEnd() !== text);
}

/**
 * Writes a row as lines of `header: value`, for a terminal too narrow for the table. Cuts nothing,
 * so that an ID can be selected. Aligns the values in one column if they fit.
 */
export function cardWriter<T>(
  layout: Layout,
  { header, cells: room, paint }: TableStyle,
  cellsOf: (row: T) => readonly Shown[],
): RowWriter<T> {
  const labels = layout.columns.map((column) => (header ? `${column.header}:` : ''));
  const edge = Math.max(...labels.map(width));
  let isFirst = true;

  function cells(shown: readonly Shown[]): string {
    const fits = shown.every(({ text }) => edge + 1 + width(text) <= room);
    const lines = labels.map((label, at) => {
      const { colour, text } = shown[at] ?? NO_CELL;
      const head = header ? `${paint('bold', label)}${fits ? padding(label, edge) : ''} ` : '';
      return `${head}${paint(colour, text)}\n`;
    });
    const between = isFirst ? '' : '\n';
    isFirst = false;
    return between + lines.join('');
  }

  return { head: '', row: (row) => cells(cellsOf(row)) };
}
