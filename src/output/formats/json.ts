import type { Forms } from '../forms.ts';
import { eachRow, type Rows } from '../rows.ts';
import { escapeUnseen } from '../sanitise.ts';
import type { Sink } from '../sink.ts';
import { type Coming, createBatch, type Writer } from './batch.ts';
import { writeLines } from './lines.ts';

export function jsonText(value: unknown): string {
  return `${encode(value, 2)}\n`;
}

export function jsonLine(value: unknown): string {
  return `${encode(value, 0)}\n`;
}

function encode(value: unknown, indent: number): string {
  return escapeUnseen(JSON.stringify(value, null, indent) ?? 'null');
}

export function jsonWriter<T>({ data }: Forms<T>): Writer<T> {
  return {
    item: (value) => jsonText(data(value)),
    list: (rows, sink, coming) => writeArray(rows, data, sink, coming),
  };
}

export function jsonLinesWriter<T>({ data }: Forms<T>): Writer<T> {
  return {
    item: (value) => jsonLine(data(value)),
    list: (rows, sink, coming) => writeLines(rows, (row) => jsonLine(data(row)), sink, { coming }),
  };
}

/**
 * One array, its elements written as they come. If the source fails, the array stays open, so no
 * reader takes a part for the whole.
 */
async function writeArray<T>(
  rows: Rows<T>,
  data: (row: T) => unknown,
  sink: Sink,
  { live, onFlush }: Coming,
): Promise<void> {
  const batch = createBatch(sink, live);
  onFlush?.(() => batch.finish());
  let before = '[\n';
  await eachRow(rows, sink, (row) => {
    // Indented as an element of the array.
    const text = before + encode([data(row)], 2).slice(2, -2);
    before = ',\n';
    return batch.add(text);
  });
  await batch.add(before === '[\n' ? '[]\n' : '\n]\n');
  await batch.finish();
}
