import { eachRow, type Rows } from '../rows.ts';
import type { Sink } from '../sink.ts';
import { type Coming, createBatch } from './batch.ts';

interface LinesOptions {
  readonly head?: string;
  readonly coming?: Coming;
}

/**
 * Writes a text for each row, in few writes. If the source fails, the rows before the failure are
 * written.
 */
export async function writeLines<T>(
  rows: Rows<T>,
  text: (row: T) => string,
  sink: Sink,
  { head = '', coming }: LinesOptions = {},
): Promise<void> {
  const batch = createBatch(sink, true, coming);
  if (head !== '') await batch.add(head);
  try {
    await eachRow(rows, sink, (row) => batch.add(text(row)));
  } finally {
    await batch.finish();
  }
}

/** Writes one document that holds all rows, its elements as they come. */
export async function writeDocument<T>(
  rows: Rows<T>,
  text: (row: T, isFirst: boolean) => string,
  end: (isEmpty: boolean) => string,
  sink: Sink,
  coming: Coming,
): Promise<void> {
  const batch = createBatch(sink, coming.live === true, coming);
  let isEmpty = true;
  await eachRow(rows, sink, (row) => {
    const isFirst = isEmpty;
    isEmpty = false;
    return batch.add(text(row, isFirst));
  });
  await batch.add(end(isEmpty));
  await batch.finish();
}
