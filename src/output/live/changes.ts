import { jsonLine } from '../formats/json.ts';
import { writeLines } from '../formats/lines.ts';
import { findingText, type Query } from '../formats/query.ts';
import type { Forms } from '../forms.ts';
import type { Format } from '../output.ts';
import type { Rows } from '../rows.ts';
import type { Sink } from '../sink.ts';

export interface ChangesTarget<T> {
  readonly forms: Forms<T>;
  readonly format: Format;
  readonly sink: Sink;
  readonly query: Query | undefined;
  /** The query looks at the one row itself, and not at a list of it. */
  readonly one: boolean;
  /** Writes rows in a format in which a line has no place for anything else. */
  rows(rows: Rows<T>): Promise<void>;
}

/** Writes what each reading changes against the one before; see Output. */
export async function writeChanges<T>(
  readings: AsyncIterable<readonly T[]>,
  { forms, format, sink, query, one, rows }: ChangesTarget<T>,
): Promise<void> {
  const { id, data, columns, safe } = forms;
  if (query !== undefined) {
    const found = changedTexts(readings, (reading) => {
      const all = reading.map(data);
      return findingText(query(one ? all[0] : all), format);
    });
    return sink.whileWatched(() => writeLines(found, (text) => text, sink));
  }
  if (format === 'json' || format === 'jsonl') {
    const changes = changesOf(readings, id, data);
    const line = (change: Change<T>) =>
      jsonLine('row' in change ? data(change.row) : { id: change.removed, removed: true });
    return sink.whileWatched(() => writeLines(changes, line, sink));
  }
  const cells = (row: T) => {
    const masked = safe(row);
    return columns.map((column) => column.value(masked) ?? null);
  };
  return rows(changedRows(changesOf(readings, id, cells)));
}

type Change<T> = { readonly row: T } | { readonly removed: string };

interface Known {
  readonly text: string;
  readonly name: string | null;
}

/**
 * What each reading changes, in its order. A row that prints the same has not changed, and rows
 * without an id are told apart by what they print.
 */
async function* changesOf<T>(
  readings: AsyncIterable<readonly T[]>,
  id: (row: T) => string | null,
  printed: (row: T) => unknown,
): AsyncGenerator<Change<T>> {
  let before = new Map<string, Known>();
  for await (const rows of readings) {
    const now = new Map<string, Known>();
    for (const row of rows) {
      const text = JSON.stringify(printed(row)) ?? '';
      const name = id(row);
      const key = name === null ? `row ${text}` : `id ${name}`;
      now.set(key, { text, name });
      if (before.get(key)?.text !== text) yield { row };
    }
    for (const [key, { name }] of before) {
      if (name !== null && !now.has(key)) yield { removed: name };
    }
    before = now;
  }
}

async function* changedRows<T>(changes: AsyncIterable<Change<T>>): AsyncGenerator<T> {
  for await (const change of changes) {
    if ('row' in change) yield change.row;
  }
}

async function* changedTexts<T>(
  readings: AsyncIterable<T>,
  textOf: (reading: T) => Promise<string>,
): AsyncGenerator<string> {
  let before: string | undefined;
  for await (const reading of readings) {
    const text = await textOf(reading);
    if (text !== before) yield text;
    before = text;
  }
}
