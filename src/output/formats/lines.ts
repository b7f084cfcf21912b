import { eachRow, type Rows } from '../rows.ts';
import type { Sink } from '../sink.ts';
import { type Coming, createBatch } from './batch.ts';

/**
 * Writes a text for each row, in few writes. Whole rows are of use even when the source fails later,
 * so that what came before the failure is written. For `finished` see {@link createBatch}.
 */
export async function writeLines<T>(
  rows: Rows<T>,
  text: (row: T) => string,
  sink: Sink,
  before = '',
  coming?: Coming,
  finished?: (batch: string) => string,
): Promise<void> {
  const batch = createBatch(sink, true, finished);
  coming?.onFlush?.(() => batch.finish());
  if (before !== '') await batch.add(before);
  try {
    await eachRow(rows, sink, (row) => batch.add(text(row)));
  } finally {
    await batch.finish();
  }
}
