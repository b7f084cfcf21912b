import type { Paint } from '../colour.ts';
import { padding, width } from '../width.ts';
import { type Layout, NO_CELL, type Shown } from './layout.ts';

export interface CardStyle {
  readonly paint: Paint;
  readonly header: boolean;
  /** Cells of a line. */
  readonly cells: number;
}

/**
 * A row as lines of `header: value`, for a terminal that is too narrow for the table. Nothing is
 * cut: an id can be taken with the mouse. The values stand in one column where they fit.
 */
export function cardOf(cells: readonly Shown[], layout: Layout, style: CardStyle): string {
  const lines = layout.columns.map(({ header }, at) => ({
    label: style.header ? `${header}:` : '',
    cell: cells[at] ?? NO_CELL,
  }));
  const edge = Math.max(...lines.map(({ label }) => width(label)));
  const fits = lines.every(({ cell }) => edge + 1 + width(cell.text) <= style.cells);
  return lines
    .map(({ label, cell }) => {
      const value = style.paint(cell.colour, cell.text);
      if (label === '') return `${value}\n`;
      return `${style.paint('bold', label)}${fits ? padding(label, edge) : ''} ${value}\n`;
    })
    .join('');
}
