import type { Paint } from '../colour.ts';
import { type Coming, createBatch } from '../formats/batch.ts';
import { remembering } from '../formats/remembering.ts';
import type { Cell, Column, Kind } from '../output.ts';
import { eachRow, isArray, type Rows } from '../rows.ts';
import type { Sink } from '../sink.ts';
import { widthIsUndisputed } from '../width.ts';
import { cardOf } from './cards.ts';
import { isNumeric, isShownRaw, kindColour, type Reader, tableText } from './kinds.ts';
import {
  fitted,
  GAP,
  headerCells,
  type Layout,
  type LayoutColumn,
  layoutOf,
  lineOf,
  NO_CELL,
  placed,
  type Shown,
  trimLines,
} from './layout.ts';

/** cli-table3 takes quadratic time; up to here nobody notices. */
const SMALL = 200;

export interface TableStyle extends Reader {
  readonly paint: Paint;
  readonly header: boolean;
  /** Cells of a terminal's line; Infinity in a pipe, where nothing is cut. */
  readonly cells: number;
}

/**
 * Writes rows as a table, or as cards where a terminal is too narrow for one, and says how many there were. A short list in a terminal is drawn by
 * cli-table3, anything else by a line writer with the same look: that one takes linear time, and
 * a list that is still coming takes its widths from the first rows. `safe` takes the secrets out
 * of a row.
 */
export async function writeTable<T>(
  rows: Rows<T>,
  columns: readonly Column<T>[],
  sink: Sink,
  style: TableStyle,
  coming: Coming,
  safe: (row: T) => T,
): Promise<number> {
  const { live } = coming;
  const batch = createBatch(sink, true);
  const draw = await drawerFor(style);
  const headers = columns.map((column) => (style.header ? column.header : ''));
  const right = columns.map((column) => isNumeric(column.kind));
  const shown = (row: T) => {
    const masked = safe(row);
    return columns.map((column) => shownCell(masked, column, style));
  };
  // What is still to come is not known, and a log is read to the end of its lines.
  const ahead = live ? { least: columns.map(({ least = 0 }) => least) } : undefined;
  const measure = (measured: Iterable<readonly Shown[]>) =>
    layoutOf(headers, right, measured, style.cells, ahead);

  let first: (readonly Shown[])[] = [];
  let layout: Layout | undefined;
  let written: ((row: T) => string) | undefined;
  let count = 0;
  let over = false;

  let cards = 0;
  /** A card and the empty line that parts it from the one before. */
  const card = (cells: readonly Shown[], known: Layout) => {
    cards += 1;
    return `${cards === 1 ? '' : '\n'}${cardOf(cells, known, style)}`;
  };
  const lineIn = (cells: readonly Shown[], known: Layout) =>
    known.fits ? lineOf(cells, known, style.paint) : card(cells, known);

  function begin(known: Layout): Promise<void> | undefined {
    layout = known;
    const line = lineWriter(columns, known, style);
    written = known.fits ? (row) => line(safe(row)) : (row) => card(shown(row), known);
    const lines = first.map((cells) => lineIn(cells, known));
    first = [];
    const isHeaded = style.header && known.fits;
    const head = isHeaded ? lineOf(headerCells(known), known, style.paint) : '';
    return batch.add(head + lines.join(''));
  }

  coming.onFlush?.(async () => {
    if (layout === undefined && first.length > 0) await begin(measure(first));
    await batch.finish();
  });
  if (isArray(rows) && rows.length > SMALL) await begin(measure(each(rows, shown)));

  await eachRow(rows, sink, (row) => {
    count += 1;
    if (written !== undefined) return batch.add(written(row));
    first.push(shown(row));
    if (first.length > SMALL) return begin(measure(first));
    if (live && first.length === 1) {
      // What comes in one go is measured together; then the rows wait for nothing.
      setImmediate(() => {
        if (layout === undefined && !over) begin(measure(first))?.catch(() => undefined);
      });
    }
    return undefined;
  });

  over = true;
  if (layout === undefined && first.length > 0) {
    const known = measure(first);
    if (known.fits) await batch.add(draw(first, known));
    else await begin(known);
  }
  await batch.finish();
  return count;
}

function* each<T>(rows: readonly T[], shown: (row: T) => readonly Shown[]) {
  for (const row of rows) yield shown(row);
}

function shownCell<T>(row: T, column: Column<T>, reader: Reader): Shown {
  return shownValue(column.value(row), column.kind, reader);
}

function shownValue(value: Cell, kind: Kind | undefined, reader: Reader): Shown {
  const text = tableText(value, kind, reader);
  // A gap would shift the fields of awk.
  if (text === '') return NO_CELL;
  return { text, colour: kindColour(text, kind), numeric: typeof value === 'number' };
}

/** Lines for rows without end. */
function lineWriter<T>(
  columns: readonly Column<T>[],
  layout: Layout,
  style: TableStyle,
): (row: T) => string {
  const last = layout.columns.length - 1;
  const cells = layout.columns.map((place, at) =>
    cellWriter(columns[at]?.kind, place, layout.spare, style, at === last),
  );
  return (row) => {
    let line = '';
    let end = '';
    for (let at = 0; at <= last; at += 1) {
      end = cells[at]?.(columns[at]?.value(row)) ?? '';
      line += end;
    }
    return endsInSpace(end) ? `${line.trimEnd()}\n` : `${line}\n`;
  };
}

/**
 * A cell in its place, with the gap behind it, where it is not the last. It is often that of the row
 * before it, and nearly always nothing but ASCII, which is as wide as it is long and has nothing to
 * be cleaned of.
 */
function cellWriter(
  kind: Kind | undefined,
  place: LayoutColumn,
  spare: number,
  style: TableStyle,
  isLast: boolean,
): (value: Cell) => string {
  const least = place.width;
  const most = place.right ? Number.POSITIVE_INFINITY : least + spare;
  const after = isLast ? '' : ' '.repeat(GAP);
  // What stands ready for a text that is narrower than its column by so many cells.
  const before = Array.from({ length: Math.min(least, MOST_READY) + 1 }, (_, cells) =>
    spaces(cells),
  );
  const behind = before.map((filling) => (isLast ? '' : filling + after));
  const isRaw = isShownRaw(kind, style);
  const cell = (value: Cell) => {
    const isQuick =
      isRaw &&
      typeof value === 'string' &&
      value !== '' &&
      value.length <= most &&
      !BEYOND_ASCII.test(value);
    if (!isQuick) {
      const text = placed(shownValue(value, kind, style), place, spare, style.paint);
      return isLast ? text : text + after;
    }
    const narrower = least - value.length;
    return place.right
      ? (before[narrower] ?? spaces(narrower)) + value + after
      : value + (behind[narrower] ?? (isLast ? '' : spaces(narrower) + after));
  };
  // How long ago a time was is another thing in a moment.
  return kind === 'time' && style.terminal ? cell : remembering(cell);
}

const BEYOND_ASCII = /[^ -~]/;

/** One text of the service may be a million cells wide, and its column with it. */
const MOST_READY = 100;

function spaces(cells: number): string {
  return ' '.repeat(Math.max(0, cells));
}

/** Whether a line that ends so is to be cut at its end; a cell of the last column is never empty. */
function endsInSpace(text: string): boolean {
  const code = text.charCodeAt(text.length - 1);
  return code <= 32 || (code > 126 && text.trimEnd() !== text);
}

type Draw = (rows: readonly (readonly Shown[])[], layout: Layout) => string;

async function drawerFor(style: TableStyle): Promise<Draw> {
  const byLine: Draw = (rows, layout) =>
    [...(style.header ? [headerCells(layout)] : []), ...rows]
      .map((cells) => lineOf(cells, layout, style.paint))
      .join('');
  if (!style.terminal) return byLine;
  const { default: CliTable } = await import('cli-table3');

  return (rows, layout) => {
    // cli-table3 measures with an old table of widths; what the two see differently would not line up.
    const texts = [
      layout.columns.map(({ header }) => header),
      ...rows.map((row) => row.map(textOf)),
    ];
    if (!texts.flat().every(widthIsUndisputed)) return byLine(rows, layout);
    const painted = (cells: readonly Shown[]) =>
      layout.columns.map((column, at) => {
        const cell = cells[at] ?? NO_CELL;
        return style.paint(cell.colour, fitted(cell, column, 0));
      });
    const table = new CliTable({
      chars: BORDERLESS,
      style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
      colAligns: layout.columns.map(({ right }) => (right ? 'right' : 'left')),
      ...(style.header ? { head: painted(headerCells(layout)) } : {}),
    });
    for (const row of rows) table.push(painted(row));
    return `${trimLines(table.toString())}\n`;
  };
}

function textOf(cell: Shown): string {
  return cell.text;
}

const BORDERLESS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: ' '.repeat(GAP),
};
