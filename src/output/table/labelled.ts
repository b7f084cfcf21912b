import { padding, width } from '../width.ts';
import { GAP } from './layout.ts';

export interface Labelled {
  readonly label: string;
  /** The text in lines for this many cells. */
  lines(room: number): readonly string[];
}

/** Labels in a column, and beside each its text, wrapped within a column of its own. */
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

/** The cells of the widest label, with the gap behind it. */
export function labelWidth(rows: readonly Labelled[]): number {
  return Math.max(0, ...rows.map(({ label }) => width(label))) + GAP;
}
