import { unpainted } from '../output/colour.ts';
import { clean } from '../output/sanitise.ts';
import { GAP, layoutOf, lineOf, type Shown } from '../output/table/layout.ts';
import { clamp, width } from '../output/width.ts';
import type { Choice } from './prompts.ts';

/** So much is left of a name, and of the last column, before that column goes. */
const NAME = 16;
const LAST = 24;

/** More than this of a column between them is cut: one long text would cost all rows the columns. */
const BETWEEN = 28;

/** The choices as lines of a table, none longer than `room` cells. */
export function rowsOf(choices: readonly Choice<unknown>[], room: number): string[] {
  const last = Math.max(0, ...choices.map(({ about = [] }) => about.length));
  const cells = choices.map(({ name, about = [] }) =>
    [name, ...about]
      .map(clean)
      .map((text, at) => (at === 0 || at === last ? text : clamp(text, BETWEEN))),
  );
  const columns = fittingColumns(cells, room);
  // What has no columns (`Paste another id`) widens none.
  const rows = cells.filter((row) => row.length > 1).map((row) => shown(row, columns));
  const layout = layoutOf(Array(columns).fill(''), [], rows, room);
  return cells.map((row) =>
    row.length > 1
      ? clamp(lineOf(shown(row, columns), layout, unpainted).trimEnd(), room)
      : clamp(row[0] ?? '', room),
  );
}

/** As many columns as fit beside a name that is not cut to nothing. */
function fittingColumns(cells: readonly (readonly string[])[], room: number): number {
  const count = Math.max(1, ...cells.map((row) => row.length));
  const tabular = cells.filter((row) => row.length > 1);
  for (let columns = count; columns > 1; columns -= 1) {
    let sum = 0;
    for (let at = 0; at < columns; at += 1) {
      const widest = Math.max(0, ...tabular.map((row) => width(row[at] ?? '')));
      if (at === 0) sum += Math.min(widest, NAME);
      else sum += GAP + (at === count - 1 ? Math.min(widest, LAST) : widest);
    }
    if (sum <= room) return columns;
  }
  return 1;
}

function shown(row: readonly string[], columns: number): Shown[] {
  return Array.from({ length: columns }, (_, at) => ({
    text: row[at] ?? '',
    colour: undefined,
    // Everything is aligned left, numbers too.
    numeric: false,
  }));
}

/** Whether a line holds each word that a person typed. */
export function matching(term: string): (line: string) => boolean {
  const words = term.toLowerCase().split(/\s+/).filter(Boolean);
  return (line) => words.every((word) => line.toLowerCase().includes(word));
}
