import { clean } from '../../rules/clean.ts';
import type { Paint } from '../colour.ts';
import type { Block, Fact, Item, TableBlock } from '../output.ts';
import { foldedCommand } from '../shell-line.ts';
import { clamp, padding, paragraph, width } from '../width.ts';
import { tableText } from './draw.ts';
import { barOf, isNumeric, isWhole, type Reader, shownCell } from './kinds.ts';
import { GAP, type Layout, labelledText, labelWidth, layoutOf, type Shown } from './layout.ts';

interface ScreenStyle extends Reader {
  readonly paint: Paint;
  /** Width of a terminal line in cells; Infinity in a pipe, to wrap and cut nothing. */
  readonly cells: number;
  /** Whether to draw bars: a screen reader would read them out. */
  readonly bars: boolean;
}

/** Stacks several blocks with an empty line between them; no block is wider than the line. */
export async function screenText(blocks: readonly Block[], style: ScreenStyle): Promise<string> {
  const texts: string[] = [];
  for (const block of blocks) {
    const body = await bodyOf(block, style);
    if (body === '') continue;
    texts.push((block.heading === undefined ? '' : headingOf(block.heading, style)) + body);
  }
  return texts.join('\n');
}

async function bodyOf(block: Block, style: ScreenStyle): Promise<string> {
  switch (block.kind) {
    case 'facts':
      return factsText(block.facts, style);
    case 'items':
      return block.items.map((item) => itemText(item, style)).join('');
    case 'table':
      return tableOf(block, style);
    case 'bars':
      return barsText(block, style);
  }
}

function headingOf(text: string, { paint, cells }: ScreenStyle): string {
  return `${paint('bold', clamp(clean(text), cells))}\n`;
}

/**
 * Aligns labels in a column, and wraps each text beside its label. If a command does not fit there,
 * puts each text below its label.
 */
function factsText(facts: readonly Fact[], { paint, cells }: ScreenStyle): string {
  const shown = facts.filter(({ text }) => text !== '');
  const rows = shown.map(({ label, text, colour, command }) => ({
    label: clean(label),
    lines: (room: number) =>
      (command ? foldedCommand(clean(text), room) : wrap(clean(text), room)).map((line) =>
        paint(colour, line),
      ),
  }));
  const edge = labelWidth(rows);
  const fits = shown.every(({ text, command }) => !command || edge + width(text) <= cells);
  if (fits) return labelledText(rows, cells, edge);
  return rows
    .flatMap(({ label, lines }) => [label, ...below(lines(cells - BELOW.length))])
    .map((line) => `${line}\n`)
    .join('');
}

/**
 * Prints `- the problem`, and below it a command that people can paste: if it does not fit, its
 * lines end with a backslash.
 */
function itemText({ text, colour, command }: Item, { paint, cells }: ScreenStyle): string {
  const lines = wrap(clean(text), cells - GAP).map(
    (line, at) => `${at === 0 ? '- ' : '  '}${paint(colour, line)}`,
  );
  const paste =
    command === undefined ? [] : below(foldedCommand(clean(command), cells - BELOW.length));
  return [...lines, ...paste].map((line) => `${line}\n`).join('');
}

const BELOW = '    ';

function below(lines: readonly string[]): string[] {
  return lines.map((line) => BELOW + line);
}

async function tableOf(
  { columns, rows, more, ...limits }: TableBlock,
  style: ScreenStyle,
): Promise<string> {
  const below = more === undefined ? '' : `${paintedLines(more, style)}`;
  if (rows.length === 0) return below;
  const shown = rows.map((row) => row.map((cell, at) => shownCell(cell, columns[at]?.kind, style)));
  const { kept, cells } = withoutBars(columns, shown, style);
  const layout = fittingLayout(kept, cells, style.cells, limits);
  const text = await tableText(cells, layout, style);
  const [from, to = from] = [layout.columns.length, limits.needed];
  if (from >= to) return text + below;
  const [header = '', ...lines] = text.trimEnd().split('\n');
  const all = lines.map((line, at) => {
    const needed = kept.slice(from, to).flatMap((column, index) => {
      const cell = cells[at]?.[from + index];
      // A missing value of the row needs no line of its own.
      if (cell === undefined || rows[at]?.[from + index] == null) return [];
      return `  ${clamp(`${column.short ?? column.header} ${cell.text}`, style.cells - GAP)}`;
    });
    return [line, ...needed].join('\n');
  });
  return `${[header, ...all].join('\n')}\n${below}`;
}

/**
 * Drops bars for a screen reader. Drops a last bar before cutting other cells, since a number
 * repeats it.
 */
function withoutBars(
  columns: TableBlock['columns'],
  cells: readonly (readonly Shown[])[],
  style: ScreenStyle,
) {
  const isLast = columns.at(-1)?.kind === 'bar';
  const fits = takenBy(measured(columns, cells, Number.POSITIVE_INFINITY)) <= style.cells;
  if (style.bars && (fits || !isLast)) return { kept: columns, cells };
  const isText = (at: number) => !['bar', 'blocks'].includes(columns[at]?.kind ?? '');
  return {
    kept: columns.filter((_, at) => isText(at)),
    cells: cells.map((row) => row.filter((_, at) => isText(at))),
  };
}

/** Picks the columns that fit a narrow terminal; the first columns matter most. */
function fittingLayout(
  given: TableBlock['columns'],
  shown: readonly (readonly Shown[])[],
  cells: number,
  { uncut = 0, needed = Number.POSITIVE_INFINITY }: Pick<TableBlock, 'uncut' | 'needed'>,
): Layout {
  const fits = takenBy(measured(given, shown, Number.POSITIVE_INFINITY)) <= cells;
  const columns = given.map((one) => (fits ? one : { ...one, header: one.short ?? one.header }));
  for (let kept = columns.length; ; kept -= 1) {
    const layout = measured(columns.slice(0, kept), shown, cells);
    const isCut = kept > uncut && layout.columns.slice(0, uncut).some((one) => one.isCut);
    const isTight = kept > needed && !layout.fits;
    if ((takenBy(layout) <= cells && !isCut && !isTight) || kept <= 2) return layout;
  }
}

function measured(
  columns: TableBlock['columns'],
  shown: readonly (readonly Shown[])[],
  cells: number,
): Layout {
  const headings = columns.map(({ header, kind }) => ({
    header,
    right: isNumeric(kind),
    whole: isWhole(kind),
  }));
  return layoutOf(headings, shown, cells);
}

function takenBy({ columns }: Layout): number {
  return columns.reduce((sum, column) => sum + column.width + GAP, -GAP);
}

function paintedLines(text: string, { paint, cells }: ScreenStyle): string {
  return wrap(clean(text), cells)
    .map((line) => `${paint('dim', line)}\n`)
    .join('');
}

/** Shorter bars than this show no difference. */
const SHORTEST = 8;

/** Prints one line per bar: label, amount, and the bar in the rest of the line. */
function barsText(
  { bars }: Extract<Block, { kind: 'bars' }>,
  { paint, cells, bars: wanted }: ScreenStyle,
): string {
  const labels = Math.max(0, ...bars.map(({ label }) => width(label)));
  const values = Math.max(0, ...bars.map(({ value }) => width(value)));
  const room = cells - labels - values - 2 * GAP;
  const drawn = wanted && Number.isFinite(room) && room >= SHORTEST;
  return bars
    .map(({ label, value, share }) => {
      const bar = drawn ? barOf(share, Math.min(room, LONGEST)) : '';
      const head = `${label}${padding(label, labels)}${' '.repeat(GAP)}${padding(value, values)}`;
      return `${head}${value}${bar === '' ? '' : ' '.repeat(GAP) + paint('cyan', bar)}\n`;
    })
    .join('');
}

/** Longer bars are no easier to compare. */
const LONGEST = 100;

function wrap(text: string, cells: number): string[] {
  return paragraph(text, cells, (word) => clamp(word, Math.max(1, cells)));
}
