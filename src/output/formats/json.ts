import type { Forms } from '../forms.ts';
import { eachRow, type Rows } from '../rows.ts';
import { escapeUnseen, escapeWritten } from '../sanitise.ts';
import type { Sink } from '../sink.ts';
import { type Coming, createBatch, type Writer } from './batch.ts';
import { writeLines } from './lines.ts';

/** One document, indented by two spaces. */
export function jsonText(value: unknown): string {
  return `${encode(value, 2)}\n`;
}

/** One value on one line. */
export function jsonLine(value: unknown): string {
  return `${encode(value, 0)}\n`;
}

function encode(value: unknown, indent: number): string {
  return escapeUnseen(unescaped(value, indent));
}

function unescaped(value: unknown, indent: number): string {
  return JSON.stringify(value, null, indent) ?? 'null';
}

/** So many elements are made into text at once, which takes two thirds of the time. */
const FEW = 10;

/** One document: a list is an array. */
export function jsonWriter<T>({ data }: Forms<T>): Writer<T> {
  return {
    item: (value) => jsonText(data(value)),
    list: (rows, sink, coming) => writeArray(rows, data, sink, coming),
  };
}

/** A document on each line. */
export function jsonLinesWriter<T>({ data }: Forms<T>): Writer<T> {
  return {
    item: (value) => jsonLine(data(value)),
    list: (rows, sink, coming) =>
      writeLines(rows, (row) => `${unescaped(data(row), 0)}\n`, sink, {
        coming,
        finished: escapeWritten,
      }),
  };
}

/**
 * One array, its elements written as they come. If the source fails the array stays open, so that
 * no reader takes a part for the whole.
 */
async function writeArray<T>(
  rows: Rows<T>,
  data: (row: T) => unknown,
  sink: Sink,
  { live, onFlush }: Coming,
): Promise<void> {
  const batch = createBatch(sink, live, escapeWritten);
  onFlush?.(() => batch.finish());
  // An element that is waited for goes by itself.
  const most = live ? 1 : FEW;
  let few: unknown[] = [];
  let before = '[\n';
  const put = () => {
    // As elements of an array they have the indentation of any element.
    const text = before + unescaped(few, 2).slice(2, -2);
    before = ',\n';
    few = [];
    return batch.add(text);
  };
  await eachRow(rows, sink, (row) => {
    few.push(data(row));
    return few.length < most ? undefined : put();
  });
  if (few.length > 0) await put();
  await batch.add(before === '[\n' ? '[]\n' : '\n]\n');
  await batch.finish();
}
