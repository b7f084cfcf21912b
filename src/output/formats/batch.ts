import type { ListOptions } from '../output.ts';
import { eachRow, type Rows } from '../rows.ts';
import type { Sink } from '../sink.ts';

/**
 * Characters per batch. An empty pipe accepts a full batch at once; the rest of a larger batch
 * would wait for the reader.
 */
const FULL = 60 * 1024;

/** Options for writing rows as they arrive. */
export type Coming = Pick<ListOptions, 'live' | 'onFlush'>;

/** Writes the rows of one view in a format other than the table. */
export interface Writer<T> {
  list(rows: Rows<T>, sink: Sink, coming: Coming): Promise<void>;
  item(value: T): string;
}

/**
 * Combines small texts into few writes, since a write per row is several times slower. With
 * `prompt`, also writes a batch as soon as its source pauses.
 */
export function createBatch(
  sink: Sink,
  prompt: boolean,
  { onFlush }: Coming = {},
  beforeFlush?: () => Promise<void> | undefined,
) {
  // Joins the texts at the end. V8 keeps a string that grows row by row as a deep tree, and writing
  // that is slow.
  let parts: string[] = [];
  let length = 0;
  let planned = false;

  function flush(): Promise<void> {
    const full = parts.join('');
    parts = [];
    length = 0;
    return sink.write(full);
  }

  onFlush?.(async () => {
    await beforeFlush?.();
    await flush();
    return !sink.ended;
  });

  return {
    /** Returns undefined while there is room, otherwise a promise of the written batch. */
    add(more: string): Promise<void> | undefined {
      parts.push(more);
      length += more.length;
      if (length >= FULL) return flush();
      if (prompt && !planned) {
        planned = true;
        // setImmediate runs only when the source waits for outside data.
        setImmediate(() => {
          planned = false;
          // The sink stores a failure and throws it at the next write.
          if (length > 0) flush().catch(() => undefined);
        });
      }
      return undefined;
    },
    /** Writes the rest. @throws CliError('storage') if this or an earlier write failed. */
    finish: flush,
  };
}

interface LinesOptions {
  readonly head?: string;
  readonly coming?: Coming;
}

/**
 * Writes a text for each row, in few writes. If the source fails, writes the rows before the
 * failure.
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

/** Streams the rows as one document, writing each row as it arrives. */
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
