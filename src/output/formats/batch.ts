import type { Rows } from '../rows.ts';
import type { Sink } from '../sink.ts';

/**
 * Characters after which a batch is written: with the row that made it full, what a pipe takes at
 * once. Of one that is larger the rest would wait for the reader.
 */
const FULL = 60 * 1024;

/** How rows that may still be coming are written. */
export interface Coming {
  readonly live: boolean;
  /** Gets what writes all that has been given so far. */
  onFlush?(flush: () => Promise<void>): void;
}

/** How a format other than the table writes the rows of one view. */
export interface Writer<T> {
  list(rows: Rows<T>, sink: Sink, coming: Coming): Promise<void>;
  item(value: T): string;
}

/** Gathers small texts into few writes; a write for each row costs several times as much. */
interface Batch {
  /** Ends at once (undefined) while there is room, else when the batch has been written. */
  add(text: string): Promise<void> | undefined;
  /** Writes what is left. @throws CliError('storage') when this or an earlier write failed. */
  finish(): Promise<void>;
}

/**
 * With `prompt`, a batch also leaves as soon as its source pauses: nobody waits for a full one.
 */
export function createBatch(sink: Sink, prompt: boolean): Batch {
  // Joined at the end: a text that grows by a row at a time is a deep tree, slow to write.
  let parts: string[] = [];
  let length = 0;
  let planned = false;

  function flush(): Promise<void> {
    const full = parts.join('');
    parts = [];
    length = 0;
    return sink.write(full);
  }

  return {
    add(more) {
      parts.push(more);
      length += more.length;
      if (length >= FULL) return flush();
      if (prompt && !planned) {
        planned = true;
        // The event loop turns only when the source waits for something outside.
        setImmediate(() => {
          planned = false;
          // The sink keeps a failure and throws it again at the next write.
          if (length > 0) flush().catch(() => undefined);
        });
      }
      return undefined;
    },
    finish: flush,
  };
}
