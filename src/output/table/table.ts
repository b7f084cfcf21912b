import { type Coming, createBatch } from '../formats/batch.ts';
import type { Forms } from '../forms.ts';
import type { Column } from '../output.ts';
import { eachRow, isArray, type Rows } from '../rows.ts';
import type { Sink } from '../sink.ts';
import { SMALL, tableText } from './draw.ts';
import { isNumeric, isWhole, shownCell } from './kinds.ts';
import { type Layout, layoutOf, type Shown } from './layout.ts';
import { cardWriter, lineWriter, type RowWriter, type TableStyle } from './row-writers.ts';

interface Table<T> {
  readonly forms: Pick<Forms<T>, 'columns' | 'safe'>;
  readonly style: TableStyle;
  /** Whether rows arrive over hours. */
  readonly isLive: boolean;
}

/**
 * Writes rows as a table, or as cards if the terminal is too narrow for a table, and returns the
 * number of rows. Measures the column widths on the first rows, then writes later rows as they
 * arrive, in linear time.
 */
export async function writeTable<T>(
  rows: Rows<T>,
  forms: Forms<T>,
  sink: Sink,
  style: TableStyle,
  coming: Coming,
): Promise<number> {
  const isLive = coming.live === true;
  const table = { forms, style, isLive };
  if (isArray(rows) && rows.length <= SMALL) {
    if (rows.length > 0) await sink.write(await wholeText(rows, table));
    return rows.length;
  }
  const stream = createStream(table, sink, coming);
  if (isArray(rows)) await stream.begin(rows);
  let count = 0;
  await eachRow(rows, sink, (row) => {
    count += 1;
    return stream.add(row);
  });
  await stream.finish();
  return count;
}

/** Writes rows one by one, once the first rows have given the columns their positions. */
function createStream<T>(table: Table<T>, sink: Sink, coming: Coming) {
  let waiting: T[] = [];
  let writer: RowWriter<T> | undefined;
  const beginNow = () => (waiting.length > 0 ? begin(waiting) : undefined);
  const batch = createBatch(sink, true, coming, beginNow);

  function begin(measured: readonly T[]): Promise<void> | undefined {
    const { columns, layout, cellsOf } = placed(measured, table);
    writer = layout.fits
      ? lineWriter(columns, layout, table.style, table.forms.safe)
      : cardWriter(layout, table.style, cellsOf);
    const text = writer.head + waiting.map(writer.row).join('');
    waiting = [];
    return batch.add(text);
  }

  return {
    begin,
    add(row: T): Promise<void> | undefined {
      if (writer !== undefined) return batch.add(writer.row(row));
      waiting.push(row);
      if (waiting.length > SMALL) return begin(waiting);
      // Measures the rows that have arrived, so that no row waits for the next one.
      if (table.isLive && waiting.length === 1) {
        setImmediate(() => beginNow()?.catch(() => undefined));
      }
      return undefined;
    },
    async finish(): Promise<void> {
      const rest = waiting;
      waiting = [];
      if (rest.length > 0) await batch.add(await wholeText(rest, table));
      await batch.finish();
    },
  };
}

/** Formats all rows of a short table. */
async function wholeText<T>(rows: readonly T[], table: Table<T>): Promise<string> {
  const { layout, cellsOf } = placed(rows, table);
  if (layout.fits) return tableText(rows.map(cellsOf), layout, table.style);
  return rows.map(cardWriter(layout, table.style, cellsOf).row).join('');
}

interface Placed<T> {
  readonly columns: readonly Column<T>[];
  readonly layout: Layout;
  cellsOf(row: T): readonly Shown[];
}

/**
 * Leaves out spared columns, one after another, until the others fit. Then cuts neither the first
 * column, nor the name, nor a spared column.
 */
function placed<T>(rows: readonly T[], table: Table<T>): Placed<T> {
  const { columns } = table.forms;
  const spared = columns.filter((column) => column.spared);
  for (let left = 0; left <= spared.length; left += 1) {
    const shown = columns.filter((column) => !spared.slice(0, left).includes(column));
    const found = measured(rows, shown, table);
    const isCut = found.layout.columns.some(
      (one, at) => one.isCut && (at === 0 || shown[at]?.id === 'name' || shown[at]?.spared),
    );
    if (found.layout.fits && (!isCut || spared.length === 0)) return found;
  }
  return measured(rows, columns, table);
}

function measured<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  { forms, style, isLive }: Table<T>,
): Placed<T> {
  const cellsOf = (row: T) => {
    const masked = forms.safe(row);
    return columns.map((column) => shownCell(column.value(masked), column.kind, style));
  };
  const headings = columns.map(({ id, header, kind, whole, least }) => ({
    header: style.header ? header : '',
    right: isNumeric(kind),
    whole: whole ?? (id === 'id' || isWhole(kind)),
    // Later rows may be wider than the first rows, so keep a minimum width.
    ...(isLive ? { least } : {}),
  }));
  return { columns, layout: layoutOf(headings, map(rows, cellsOf), style.cells, isLive), cellsOf };
}

function* map<T, R>(values: Iterable<T>, change: (value: T) => R) {
  for (const value of values) yield change(value);
}
