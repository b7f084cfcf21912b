import type { Paint } from '../colour.ts';
import { widthIsUndisputed } from '../width.ts';
import {
  fitted,
  GAP,
  headerCells,
  type Layout,
  lineOf,
  NO_CELL,
  type Shown,
  trimLines,
} from './layout.ts';

/** Most rows for cli-table3: its quadratic time is not noticeable up to this number. */
export const SMALL = 200;

/**
 * Draws a table whose rows are all known. In a terminal, uses cli-table3. Uses plain lines with the
 * same look in a pipe and beyond {@link SMALL} rows. Also uses plain lines if cli-table3 gets the
 * width of a character wrong, since its columns would not line up.
 */
export async function tableText(
  rows: readonly (readonly Shown[])[],
  layout: Layout,
  { terminal, header = true, paint }: DrawStyle,
): Promise<string> {
  const lines = header ? [headerCells(layout), ...rows] : rows;
  const isPlain = !terminal || !lines.flat().every(({ text }) => widthIsUndisputed(text));
  if (isPlain) return lines.map((cells) => lineOf(cells, layout, paint)).join('');
  const { default: CliTable } = await import('cli-table3');
  const table = new CliTable({
    chars: BORDERLESS,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
    colAligns: layout.columns.map(({ right }) => (right ? 'right' : 'left')),
  });
  for (const cells of lines) {
    table.push(
      layout.columns.map((column, at) => {
        const cell = cells[at] ?? NO_CELL;
        return paint(cell.colour, fitted(cell, column, 0));
      }),
    );
  }
  return `${trimLines(table.toString())}\n`;
}

interface DrawStyle {
  readonly terminal: boolean;
  readonly header?: boolean;
  readonly paint: Paint;
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
