import { eachRow, type Rows } from '../rows.ts';
import { escapeUnseen, escapeWritten } from '../sanitise.ts';
import type { Sink } from '../sink.ts';
import { type Coming, createBatch } from './batch.ts';

/** One document, indented by two spaces. */
export function jsonText(value: unknown): string {
  return `${encode(value, 2)}\n`;
}

/** One value on one line. */
export function jsonLine(value: unknown): string {
  return `${encode(value, 0)}\n`;
}

/** The same as {@link jsonLine}, when {@link escapeWritten} has gone through all lines at once. */
export function unescapedLine(value: unknown): string {
  return `${unescaped(value, 0)}\n`;
}

function encode(value: unknown, indent: number): string {
  return escapeUnseen(unescaped(value, indent));
}

function unescaped(value: unknown, indent: number): string {
  return JSON.stringify(value, null, indent) ?? 'null';
}

/**
 * One array, its elements written as they come. When the source fails the array stays open, so that
 * no reader takes a part for the whole.
 */
export async function writeJsonArray<T>(
  rows: Rows<T>,
  form: (row: T) => unknown,
  sink: Sink,
  coming: Coming,
): Promise<void> {
  const batch = createBatch(sink, coming.live, escapeWritten);
  coming.onFlush?.(() => batch.finish());
  // To write a few at once takes two thirds of the time; one that is waited for goes by itself.
  const most = coming.live ? 1 : FEW;
  let few: unknown[] = [];
  let empty = true;
  const put = () => {
    // As elements of an array they have the indentation of any element.
    const elements = unescaped(few, 2).slice(2, -2);
    const before = empty ? '[\n' : ',\n';
    empty = false;
    few = [];
    return batch.add(before + elements);
  };
  await eachRow(rows, sink, (row) => {
    few.push(form(row));
    return few.length < most ? undefined : put();
  });
  if (few.length > 0) await put();
  await batch.add(empty ? '[]\n' : '\n]\n');
  await batch.finish();
}

const FEW = 10;
