import { writeLines } from '../formats/batch.ts';
import { jsonLine } from '../formats/json.ts';
import { findingText, type Query } from '../formats/query.ts';
import type { Forms } from '../forms.ts';
import type { Format } from '../output.ts';
import type { Rows } from '../rows.ts';
import type { Sink } from '../sink.ts';

interface ChangesTarget<T> {
  readonly forms: Forms<T>;
  readonly format: Format;
  readonly sink: Sink;
  readonly query: Query | undefined;
  /** Apply the query to the row itself, not to a list with one row. */
  readonly one: boolean;
  /** Writes rows in a format that prints rows only. */
  rows(rows: Rows<T>): Promise<void>;
}

/** Writes the differences between consecutive reads; see Output. */
export async function writeChanges<T>(
  readings: AsyncIterable<readonly T[]>,
  { forms, format, sink, query, one, rows }: ChangesTarget<T>,
): Promise<void> {
  const { id, data, columns, safe, steady } = forms;
  if (query !== undefined) {
    const found = changedTexts(readings, steady, (reading) => {
      const all = reading.map(data);
      return findingText(query(one ? all[0] : all), format, forms);
    });
    return writeLines(found, (text) => text, sink);
  }
  const keyOf = (row: T, name: string | null) => (one ? 'one' : (name ?? fingerprint(steady(row))));
  const changesBy = (printed: (row: T) => unknown) =>
    changesOf(readings, { id, keyOf, steady, printed });
  if (format === 'json' || format === 'jsonl') {
    const line = (change: Change<T>) =>
      jsonLine('row' in change ? data(change.row) : { id: change.removed, removed: true });
    return writeLines(changesBy(data), line, sink);
  }
  const cells = (row: T) => {
    const masked = safe(row);
    return columns.map((column) => column.value(masked) ?? null);
  };
  return rows(changedRows(changesBy(cells)));
}

type Change<T> = { readonly row: T } | { readonly removed: string };

interface Look<T> {
  id(row: T): string | null;
  /** Identifies the same row in the next read. */
  keyOf(row: T, id: string | null): string;
  steady(row: T): unknown;
  printed(row: T): unknown;
}

/**
 * Yields the changed rows of each read, in order. A row whose printed text is the same counts as
 * unchanged.
 */
async function* changesOf<T>(
  readings: AsyncIterable<readonly T[]>,
  { id, keyOf, steady, printed }: Look<T>,
): AsyncGenerator<Change<T>> {
  let before = new Map<string, { name: string | null; lasting: string; text: string }>();
  for await (const rows of readings) {
    const now: typeof before = new Map();
    for (const row of rows) {
      const name = id(row);
      const key = keyOf(row, name);
      const known = before.get(key);
      const lasting = fingerprint(steady(row));
      // Only a clock moved, so keep the printed row for the next comparison.
      const text = known?.lasting === lasting ? known.text : fingerprint(printed(row));
      now.set(key, { name, lasting, text });
      if (known?.text !== text) yield { row };
    }
    for (const [key, { name }] of before) {
      if (name !== null && !now.has(key)) yield { removed: name };
    }
    before = now;
  }
}

function fingerprint(value: unknown): string {
  return JSON.stringify(value);
}

async function* changedRows<T>(changes: AsyncIterable<Change<T>>): AsyncGenerator<T> {
  for await (const change of changes) {
    if ('row' in change) yield change.row;
  }
}

async function* changedTexts<T>(
  readings: AsyncIterable<readonly T[]>,
  steady: (row: T) => unknown,
  find: (reading: readonly T[]) => Promise<string>,
): AsyncGenerator<string> {
  let before = { lasting: '', text: '' };
  for await (const reading of readings) {
    const lasting = fingerprint(reading.map(steady));
    if (lasting === before.lasting) continue;
    const text = await find(reading);
    if (text !== before.text) yield text;
    before = { lasting, text };
  }
}
