import { widthIsUndisputed } from '../width.ts';
import { fitted, GAP, headerCells, type Layout, NO_CELL, type Shown, trimLines } from './layout.ts';
import type { TableStyle } from './row-writers.ts';

/**
 * A short table, drawn by cli-table3. Undefined if a text has characters that cli-table3 measures
 * with an outdated table of widths: its columns would not line up.
 */
export async function drawTable(
  rows: readonly (readonly Shown[])[],
  layout: Layout,
  style: TableStyle,
): Promise<string | undefined> {
  const lines = style.header ? [headerCells(layout), ...rows] : rows;
  if (!lines.flat().every(({ text }) => widthIsUndisputed(text))) return undefined;
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
        return style.paint(cell.colour, fitted(cell, column, 0));
      }),
    );
  }
  return `${trimLines(table.toString())}\n`;
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
