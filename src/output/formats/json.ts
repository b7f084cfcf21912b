import type { Forms } from '../forms.ts';
import { escapeUnseen } from '../sanitise.ts';
import { type Writer, writeDocument, writeLines } from './batch.ts';

export function jsonText(value: unknown): string {
  return `${encode(value, 2)}\n`;
}

export function jsonLine(value: unknown): string {
  return `${encode(value, 0)}\n`;
}

function encode(value: unknown, indent: number): string {
  return escapeUnseen(JSON.stringify(value, null, indent));
}

export function jsonWriter<T>({ data }: Forms<T>): Writer<T> {
  return {
    item: (value) => jsonText(data(value)),
    // If the source fails, the array stays open, so that readers reject the partial output.
    list: (rows, sink, coming) =>
      writeDocument(
        rows,
        // Indents the row like an element of the array.
        (row, isFirst) => (isFirst ? '[\n' : ',\n') + encode([data(row)], 2).slice(2, -2),
        (isEmpty) => (isEmpty ? '[]\n' : '\n]\n'),
        sink,
        coming,
      ),
  };
}

export function jsonLinesWriter<T>({ data }: Forms<T>): Writer<T> {
  return {
    item: (value) => jsonLine(data(value)),
    list: (rows, sink, coming) => writeLines(rows, (row) => jsonLine(data(row)), sink, { coming }),
  };
}
