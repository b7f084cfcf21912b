import { fstatSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { CliError } from '../errors.ts';
import { errorCode } from '../system/error-code.ts';

/** Writes a result to its target, and reports whether it has arrived. */
export interface Sink {
  /** True once nothing more can be written: the reader is gone, or a write has failed. */
  readonly ended: boolean;
  /**
   * Resolves once the system has accepted the text, which slows down a fast source. Does nothing
   * once the reader is gone: `head` closes the pipe when it exits.
   *
   * @throws CliError('storage') if the text could not be written (a full disk).
   */
  write(text: string | Uint8Array): Promise<void>;
}

const READER_GONE = new Set([
  'EPIPE',
  'ECONNRESET',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/** Writes as much as possible at once, and returns the number of bytes written; see Host. */
export type SyncWrite = (bytes: Uint8Array) => number;

interface SinkOptions {
  readonly plain?: SyncWrite | undefined;
  /**
   * Aborts the wait for a reader that has stopped reading: the write fails with the signal's
   * reason.
   */
  readonly stop?: AbortSignal | undefined;
}

/** Opens the stream if `plain` leaves text unwritten: it writes the rest and reports errors. */
export function createSink(open: () => Writable, { plain, stop }: SinkOptions = {}): Sink {
  let ended = false;
  let failure: CliError | undefined;

  function end(error: unknown): void {
    if (ended) return;
    ended = true;
    if (error instanceof CliError) {
      failure = error;
    } else if (!READER_GONE.has(errorCode(error) ?? '')) {
      const { message } = error as Error;
      failure = new CliError('storage', `could not write the result: ${message}`, {
        cause: error,
      });
    }
  }

  let stream: Writable | undefined;
  function opened(): Writable {
    if (stream === undefined) {
      stream = open();
      // Without a listener, the stream's error would crash the process without our exit code.
      stream.on('error', end);
    }
    return stream;
  }

  async function put(text: string | Uint8Array): Promise<void> {
    let rest = text;
    if (plain !== undefined && stream === undefined) {
      const bytes = typeof text === 'string' ? Buffer.from(text) : text;
      rest = bytes.subarray(plain(bytes));
      if (rest.length === 0) return;
    }
    const to = opened();
    const file = fileOf(to);
    if (file !== undefined) return writeWhole(file, rest);
    await new Promise<void>((resolve, reject) => {
      const forget = whenStopped(stop, () => reject(stop?.reason));
      to.write(rest, (error) => {
        forget();
        if (error) reject(error);
        else resolve();
      });
    });
  }

  return {
    get ended() {
      return ended;
    },
    async write(text) {
      if (!ended) await put(text).catch(end);
      if (failure !== undefined) throw failure;
    },
  };
}

/**
 * Calls back once the run is stopped and the last write had time to complete. Returns a function
 * that cancels the callback.
 */
export function whenStopped(stop: AbortSignal | undefined, callback: () => void): () => void {
  const end = () => void setImmediate(callback);
  stop?.addEventListener('abort', end, { once: true });
  if (stop?.aborted) end();
  return () => stop?.removeEventListener('abort', end);
}

/**
 * Returns the descriptor of a standard stream that writes to a file. Node's own stream mistakes a
 * short write (the disk filled up midway) for a complete write, and would report success.
 */
function fileOf(stream: Writable): number | undefined {
  const { fd } = stream as { fd?: unknown };
  if (typeof fd !== 'number') return undefined;
  try {
    return fstatSync(fd).isFile() ? fd : undefined;
  } catch {
    // Under Wine, Bun can write to a file on stdout, but fstat fails with EBADF.
    return undefined;
  }
}

function writeWhole(file: number, text: string | Uint8Array): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
