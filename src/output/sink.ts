import { fstatSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { CliError } from '../errors.ts';
import { errorCode } from '../files/error-code.ts';

/** The target of a result, which knows whether the result has arrived. */
export interface Sink {
  /** True once nothing more can be written: the reader has gone, or a write has failed. */
  readonly ended: boolean;
  /**
   * Ends when the system has taken the text, which is also what holds a fast source back. Does
   * nothing once the reader has gone: a closed pipe is how `head` says that it has enough.
   *
   * @throws CliError('storage') when the text could not be written (a full disk).
   */
  write(text: string | Uint8Array): Promise<void>;
  /** Calls back when {@link ended} turns true; the answer takes the call back. */
  onEnd(callback: () => void): () => void;
  /**
   * Does work that may have nothing to write for hours: meanwhile {@link ended} turns true when the
   * reader goes, and not only when something is written. It has to bear to be left in its midst.
   */
  whileWatched(work: () => Promise<void>): Promise<void>;
}

const READER_GONE = new Set([
  'EPIPE',
  'ECONNRESET',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/** Writes what it can at once, and answers how many of the bytes were taken; see Host. */
export type SyncWrite = (bytes: Uint8Array) => number;

/** Tells when nobody reads any more, where that shows without a write; see Host. */
export type OnReaderGone = (gone: () => void) => () => void;

interface SinkOptions {
  readonly plain?: SyncWrite | undefined;
  readonly onReaderGone?: OnReaderGone | undefined;
  /** Ends the wait for a reader who takes nothing: the write fails with its reason. */
  readonly stop?: AbortSignal | undefined;
}

/**
 * The stream is opened when something is written that `plain` does not take, or when somebody waits
 * for its end. What is the matter with what was not taken, the stream tells: it gets the rest.
 */
export function createSink(
  open: () => Writable,
  { plain, onReaderGone, stop }: SinkOptions = {},
): Sink {
  let ended = false;
  let failure: CliError | undefined;
  const waiting = new Set<() => void>();

  function end(error: unknown): void {
    if (ended) return;
    ended = true;
    if (error instanceof CliError) {
      failure = error;
    } else if (!READER_GONE.has(errorCode(error) ?? '')) {
      const reason = error instanceof Error ? error.message : String(error);
      failure = new CliError('storage', `the result could not be written: ${reason}`, {
        cause: error,
      });
    }
    for (const callback of waiting) callback();
    waiting.clear();
  }

  let writer: Writer | undefined;
  function opened(): Writer {
    if (writer === undefined) {
      const stream = open();
      // Without a listener the stream's error would end the process, past every exit code of ours.
      stream.on('error', end);
      writer = writerOf(stream, stop);
    }
    return writer;
  }

  async function put(text: string | Uint8Array): Promise<void> {
    if (plain === undefined || writer !== undefined) return opened()(text);
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    const rest = bytes.subarray(plain(bytes));
    if (rest.length > 0) await opened()(rest);
  }

  return {
    get ended() {
      return ended;
    },
    async write(text) {
      if (!ended) await put(text).catch(end);
      if (failure !== undefined) throw failure;
    },
    onEnd(callback) {
      waiting.add(callback);
      opened();
      return () => waiting.delete(callback);
    },
    async whileWatched(work) {
      const forget = onReaderGone?.(() => end(Object.assign(new Error(), { code: 'EPIPE' })));
      try {
        await work();
      } finally {
        forget?.();
      }
    },
  };
}

type Writer = (text: string | Uint8Array) => Promise<void>;

function writerOf(stream: Writable, stop: AbortSignal | undefined): Writer {
  const file = fileOf(stream);
  if (file !== undefined) return async (text) => writeWhole(file, text);
  return (text) =>
    new Promise((resolve, reject) => {
      const forget = whenStopped(stop, () => reject(stop?.reason));
      stream.write(text, (error) => {
        forget();
        if (error) reject(error);
        else resolve();
      });
    });
}

/**
 * Calls back once the run is stopped and what was just written had its time to go out: what the
 * system takes at once is known to be taken by then. The answer takes the call back.
 */
export function whenStopped(stop: AbortSignal | undefined, callback: () => void): () => void {
  const end = () => void setImmediate(callback);
  stop?.addEventListener('abort', end, { once: true });
  if (stop?.aborted) end();
  return () => stop?.removeEventListener('abort', end);
}

/**
 * The descriptor of a standard stream that goes to a file. Node's own stream for it takes a short
 * write (the disk has filled up half-way) for a whole one, and would report success.
 */
function fileOf(stream: Writable): number | undefined {
  const { fd } = stream as { fd?: unknown };
  return typeof fd === 'number' && fstatSync(fd).isFile() ? fd : undefined;
}

function writeWhole(file: number, text: string | Uint8Array): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
