import type { Colour, Paint } from '../colour.ts';
import { clamp, padding, width } from '../width.ts';

/** A cell as people see it: clean text of one line, before colour and width. */
export interface Shown {
  readonly text: string;
  readonly colour: Colour | undefined;
  /** A column of numbers is aligned right; undefined if there is no value. */
  readonly numeric: boolean | undefined;
}

export const NO_CELL: Shown = { text: '-', colour: undefined, numeric: undefined };

/** The positions of a table's columns. */
export interface Layout {
  readonly columns: readonly LayoutColumn[];
  /** Terminal cells that no column uses; later, wider texts can use them. */
  readonly spare: number;
  /** Whether the columns have enough room; otherwise cards are easier to read. */
  readonly fits: boolean;
}

export interface LayoutColumn {
  readonly header: string;
  readonly width: number;
  readonly right: boolean;
  /** The last column, which continues on the next line of the terminal instead of being cut. */
  readonly open?: true;
}

/** Column settings of rows that are still coming. */
interface Ahead {
  /** Minimum cells per column, whatever the first rows hold. */
  readonly least: readonly number[];
}

export const GAP = 2;
const BETWEEN = ' '.repeat(GAP);

/** A narrower text can't be understood. */
const NARROWEST = 6;

/** Columns narrower than this are hard to read. */
const TELLING = 10;

/**
 * Measures rows. `terminal` is the cells of a line; Infinity means unlimited, and nothing is cut.
 */
export function layoutOf(
  headers: readonly string[],
  fixedRight: readonly boolean[],
  rows: Iterable<readonly Shown[]>,
  terminal: number,
  ahead?: Ahead,
): Layout {
  const widths = headers.map((header, at) => Math.max(width(header), ahead?.least[at] ?? 0));
  const last = headers.length - 1;
  // If all other columns fit, the last one needs little room, since it continues on the next line.
  const isOpen = (at: number) => ahead !== undefined && at === last && fixedRight[at] !== true;
  const numeric = headers.map(() => true);
  const filled = headers.map(() => false);
  for (const row of rows) {
    row.forEach((cell, at) => {
      if (isOpen(at)) return;
      widths[at] = Math.max(widths[at] ?? 0, width(cell.text));
      if (cell.numeric === undefined) return;
      filled[at] = true;
      if (!cell.numeric) numeric[at] = false;
    });
  }
  const right = headers.map(
    (_, at) => fixedRight[at] === true || (numeric[at] === true && filled[at] === true),
  );
  if (isOpen(last)) widths[last] = Math.max(widths[last] ?? 0, TELLING);
  const room = terminal - GAP * (headers.length - 1);
  const fitted = squeeze(widths, right, room);
  const enough = (at: number) =>
    ahead === undefined ? Math.min(TELLING, widths[at] ?? 0) : (widths[at] ?? 0);
  return {
    columns: headers.map((header, at) => ({
      header,
      width: fitted[at] ?? 0,
      right: right[at] === true,
      ...(isOpen(at) ? { open: true } : {}),
    })),
    spare: Math.max(0, room - sum(fitted)),
    fits: sum(fitted) <= room && fitted.every((cells, at) => cells >= enough(at)),
  };
}

/** Takes cells from the widest text columns until all fit; a number is never cut. */
function squeeze(widths: readonly number[], rigid: readonly boolean[], room: number): number[] {
  // No text needs more than a whole line, which limits the steps below.
  const most = Math.max(room, NARROWEST);
  const fitted = widths.map((cells, at) => (rigid[at] ? cells : Math.min(cells, most)));
  for (let excess = sum(fitted) - room; excess > 0; excess -= 1) {
    const soft = fitted.map((cells, at) => (rigid[at] ? 0 : cells));
    const widest = Math.max(...soft);
    if (widest <= NARROWEST) break;
    fitted[soft.indexOf(widest)] = widest - 1;
  }
  return fitted;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/**
 * The cell's text within its column; a later one, which was not measured, may use the spare cells.
 */
export function fitted(cell: Shown, column: LayoutColumn, spare: number): string {
  const isWhole = column.right || column.open || spare === Number.POSITIVE_INFINITY;
  return isWhole ? cell.text : clamp(cell.text, column.width + spare);
}

/** One line of a table, without a border and without spaces at its end. */
export function lineOf(cells: readonly Shown[], layout: Layout, paint: Paint): string {
  const parts = layout.columns.map((column, at) =>
    placed(cells[at] ?? NO_CELL, column, layout.spare, paint),
  );
  return `${parts.join(BETWEEN).trimEnd()}\n`;
}

/** A cell cut and filled to the width of its column. */
export function placed(cell: Shown, column: LayoutColumn, spare: number, paint: Paint): string {
  const text = fitted(cell, column, spare);
  const spaces = padding(text, column.width);
  const painted = paint(cell.colour, text);
  return column.right ? spaces + painted : painted + spaces;
}

export function headerCells(layout: Layout): readonly Shown[] {
  return layout.columns.map(({ header }) => ({ text: header, colour: 'bold', numeric: false }));
}

/** Removes the spaces at the end of each line in linear time. */
export function trimLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}
