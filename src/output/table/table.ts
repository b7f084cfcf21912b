import { type Coming, createBatch } from '../formats/batch.ts';
import type { Forms } from '../forms.ts';
import { eachRow, isArray, type Rows } from '../rows.ts';
import type { Sink } from '../sink.ts';
import { SMALL, tableText } from './draw.ts';
import { isNumeric, shownCell } from './kinds.ts';
import { type Layout, layoutOf, type Shown } from './layout.ts';
import { cardWriter, lineWriter, type RowWriter, type TableStyle } from './row-writers.ts';

/**
 * Writes rows as a table, or as cards if the terminal is too narrow for a table, and returns the
 * number of rows. Measures the column widths on the first rows, then writes later rows as they
 * arrive, in linear time.
 */
export async function writeTable<T>(
  rows: Rows<T>,
  { columns, safe }: Forms<T>,
  sink: Sink,
  style: TableStyle,
  coming: Coming,
): Promise<number> {
  const live = coming.live === true;
  let shown = columns;

  function cellsOf(row: T): readonly Shown[] {
    const masked = safe(row);
    return shown.map((column) => shownCell(column.value(masked), column.kind, style));
  }

  function layoutFor(first: Iterable<T>): Layout {
    const headings = shown.map(({ header, kind, least }) => ({
      header: style.header ? header : '',
      right: isNumeric(kind),
      // Later rows may be wider than the first rows, so keep a minimum width.
      ...(live ? { least } : {}),
    }));
    return layoutOf(headings, map(first, cellsOf), style.cells, live);
  }

  /**
   * Leaves out spared columns, one after another, until the others fit. Then cuts neither the first
   * column, which names the row, nor the ID or a spared column, since a cut ID can't be pasted.
   */
  function measure(first: Iterable<T>): Layout {
    const spared = columns.filter((column) => column.spared);
    for (let left = 0; left <= spared.length; left += 1) {
      shown = columns.filter((column) => !spared.slice(0, left).includes(column));
      const layout = layoutFor(first);
      const isCut = layout.columns.some(
        (one, at) => one.isCut && (at === 0 || shown[at]?.id === 'id' || shown[at]?.spared),
      );
      if (layout.fits && (!isCut || spared.length === 0)) return layout;
    }
    shown = columns;
    return layoutFor(first);
  }

  /** Formats all rows, if they are few. */
  async function textOf(whole: readonly T[]): Promise<string> {
    const layout = measure(whole);
    if (layout.fits) return tableText(whole.map(cellsOf), layout, style);
    const cards = cardWriter(layout, style, cellsOf);
    return whole.map(cards.row).join('');
  }

  if (isArray(rows) && rows.length <= SMALL && !live) {
    if (rows.length > 0) await sink.write(await textOf(rows));
    return rows.length;
  }

  const batch = createBatch(sink, true, coming, () =>
    waiting.length > 0 ? begin(measure(waiting)) : undefined,
  );
  /** Collects the first rows until the columns have their positions. */
  let waiting: T[] = [];
  let writer: RowWriter<T> | undefined;
  let count = 0;
  let over = false;

  function begin(layout: Layout): Promise<void> | undefined {
    writer = layout.fits
      ? lineWriter(shown, layout, style, safe)
      : cardWriter(layout, style, cellsOf);
    const text = writer.head + waiting.map(writer.row).join('');
    waiting = [];
    return batch.add(text);
  }

  if (isArray(rows) && !live) await begin(measure(rows));

  await eachRow(rows, sink, (row) => {
    count += 1;
    if (writer !== undefined) return batch.add(writer.row(row));
    waiting.push(row);
    if (waiting.length > SMALL) return begin(measure(waiting));
    if (live && waiting.length === 1) {
      // Measures the rows that have arrived, so that no row waits for the next one.
      setImmediate(() => {
        if (waiting.length > 0 && !over) begin(measure(waiting))?.catch(() => undefined);
      });
    }
    return undefined;
  });

  over = true;
  if (waiting.length > 0) await batch.add(await textOf(waiting));
  await batch.finish();
  return count;
}

function* map<T, R>(values: Iterable<T>, change: (value: T) => R) {
  for (const value of values) yield change(value);
}
