import type { Colour, Paint } from '../colour.ts';
import { clamp, padding, width } from '../width.ts';

/** A cell as people see it: clean text on one line, before colour and width. */
export interface Shown {
  readonly text: string;
  readonly colour: Colour | undefined;
  /** Whether to align right, as for a number; undefined if there is no value. */
  readonly numeric: boolean | undefined;
}

export const NO_CELL: Shown = { text: '-', colour: undefined, numeric: undefined };

/** Column positions in a table. */
export interface Layout {
  readonly columns: readonly LayoutColumn[];
  /** Terminal cells that no column uses; wider texts in later rows can use them. */
  readonly spare: number;
  /** Whether the columns have enough room; otherwise cards are easier to read. */
  readonly fits: boolean;
}

export interface LayoutColumn {
  readonly header: string;
  readonly width: number;
  readonly right: boolean;
  /** Whether the column is narrower than its widest cell. */
  readonly isCut?: true;
  /** Set for the last column if it wraps on the terminal's next line instead of being cut. */
  readonly open?: true;
}

/** A column before measuring its cells. */
export interface Heading {
  readonly header: string;
  /** Aligns the column right, regardless of its values. */
  readonly right: boolean;
  /** Never cut: a cut ID can't be pasted, and a cut status or time misleads. */
  readonly whole?: boolean | undefined;
  /** Minimum width in cells, even if the first rows are narrower. */
  readonly least?: number | undefined;
}

export const GAP = 2;
const BETWEEN = ' '.repeat(GAP);

/** Minimum column width: a shorter text can't be understood. */
const NARROWEST = 6;

/** A column narrower than this is hard to read. */
const TELLING = 10;

/**
 * Measures rows. `terminal` is the width of a line in cells; Infinity means unlimited, and nothing
 * is cut. With `isComing`, more rows follow.
 */
export function layoutOf(
  headings: readonly Heading[],
  rows: Iterable<readonly Shown[]>,
  terminal: number,
  isComing = false,
): Layout {
  const last = headings.length - 1;
  const columns = headings.map(({ header, right, whole = false, least = 0 }, at) => ({
    header,
    right,
    whole,
    // If all other columns fit, the last column needs little room, since it continues on the next
    // line.
    isOpen: isComing && at === last && !right,
    wanted: Math.max(width(header), least),
    width: 0,
    /** Whether the column holds only numbers; undefined while it is empty. */
    numbers: undefined as boolean | undefined,
  }));
  for (const row of rows) {
    for (const [at, column] of columns.entries()) {
      const cell = row[at];
      if (cell === undefined || column.isOpen) continue;
      column.wanted = Math.max(column.wanted, width(cell.text));
      if (cell.numeric !== undefined) column.numbers = cell.numeric && column.numbers !== false;
    }
  }
  for (const column of columns) {
    column.right ||= column.numbers === true;
    if (column.isOpen) column.wanted = Math.max(column.wanted, TELLING);
  }
  const room = terminal - GAP * last;
  const spare = room - squeeze(columns, room);
  return {
    columns: columns.map(({ header, width, wanted, right, isOpen }) => ({
      header,
      width,
      right,
      ...(width < wanted ? { isCut: true } : {}),
      ...(isOpen ? { open: true } : {}),
    })),
    spare: Math.max(0, spare),
    fits:
      spare >= 0 &&
      columns.every((one) => one.width >= (isComing ? one.wanted : Math.min(TELLING, one.wanted))),
  };
}

/**
 * Takes cells from the widest text columns until all columns fit, and returns the number of cells
 * taken. Never cuts a number or a whole column.
 */
function squeeze(
  columns: readonly {
    readonly wanted: number;
    readonly right: boolean;
    readonly whole: boolean;
    width: number;
  }[],
  room: number,
): number {
  // Limits the steps below: no text needs more than a whole line.
  const most = Math.max(room, NARROWEST);
  let taken = 0;
  for (const column of columns) {
    column.width = column.right ? column.wanted : Math.min(column.wanted, most);
    taken += column.width;
  }
  for (; taken > room; taken -= 1) {
    let widest = { width: NARROWEST };
    for (const column of columns) {
      const mayCut = !column.right && !column.whole;
      if (mayCut && column.width > widest.width) widest = column;
    }
    if (widest.width === NARROWEST) break;
    widest.width -= 1;
  }
  return taken;
}

/**
 * Fits the cell's text into its column. A later row may use the spare cells, since that row was not
 * measured.
 */
export function fitted(cell: Shown, column: LayoutColumn, spare: number): string {
  const isWhole = column.right || column.open || spare === Number.POSITIVE_INFINITY;
  return isWhole ? cell.text : clamp(cell.text, column.width + spare);
}

/** Formats one line of a table, without a border and without trailing spaces. */
export function lineOf(cells: readonly Shown[], layout: Layout, paint: Paint): string {
  const parts = layout.columns.map((column, at) =>
    placed(cells[at] ?? NO_CELL, column, layout.spare, paint),
  );
  return `${parts.join(BETWEEN).trimEnd()}\n`;
}

/** Cuts and pads a cell to the width of its column. */
export function placed(cell: Shown, column: LayoutColumn, spare: number, paint: Paint): string {
  const text = fitted(cell, column, spare);
  const spaces = padding(text, column.width);
  const painted = paint(cell.colour, text);
  return column.right ? spaces + painted : painted + spaces;
}

export function headerCells(layout: Layout): readonly Shown[] {
  return layout.columns.map(({ header }) => ({ ...NO_CELL, text: header, colour: 'bold' }));
}

/** Removes trailing spaces from each line, in linear time. */
export function trimLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

export interface Labelled {
  readonly label: string;
  /** Wraps the text to lines of `room` cells. */
  lines(room: number): readonly string[];
}

/** Aligns labels in a column, and wraps each text in a column beside them. */
export function labelledText(
  rows: readonly Labelled[],
  cells: number,
  edge = labelWidth(rows),
): string {
  return rows
    .flatMap(({ label, lines }) =>
      lines(cells - edge).map((line, at) => {
        const head = at === 0 ? label + padding(label, edge) : ' '.repeat(edge);
        return `${`${head}${line}`.trimEnd()}\n`;
      }),
    )
    .join('');
}

/** Returns the width of the widest label, plus the gap after it. */
export function labelWidth(rows: readonly Labelled[]): number {
  return Math.max(0, ...rows.map(({ label }) => width(label))) + GAP;
}
