import { closeSync, fstatSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Context } from '../context.ts';
import { CliError, failuresOf } from '../errors.ts';
import { faultOf } from '../system/error-code.ts';
import { privateFolder, takeFolderOwner } from '../system/files.ts';
import {
  type Bytes,
  hasFailedSetup,
  type JobRecord,
  jobPath,
  outputFiles,
} from './record/record.ts';

// Each output of a command is kept on this computer in a few files, the segments. The name of a
// segment has the offset of its first byte.

type From = 'out' | 'err';
type JobFiles = Pick<JobRecord, 'uid' | 'name'>;

const MB = 1024 * 1024;
const SEGMENT = 32 * MB;
/** The number of last bytes of each output to keep at least. */
export const MOST_KEPT = 64 * MB;
const CHUNK = 64 * 1024;
const LINE_FEED = 10;

interface Segment {
  readonly path: string;
  readonly start: number;
  size: number;
}

interface OpenSegment extends Segment {
  /** Stays open, so that a removed folder does not stop the output. */
  readonly file: number;
}

/** The segments that a process adds to. */
export interface KeptOutput {
  /** The offset of the next byte of each output. */
  readonly end: Bytes;
  /** Why the last bytes could not be stored: this computer's disk is full, for example. */
  readonly fault: CliError | undefined;
  /** Stores bytes, and returns how many; fewer only after a fault. */
  append(from: From, bytes: Uint8Array): number;
  /** Reads some bytes at an offset. */
  read(from: From, at: number): Uint8Array;
  /** Removes old segments, for which nobody waits. */
  dropBefore(from: From, at: number): void;
  close(): void;
}

/**
 * Opens the kept output of a job to continue it. Output that does not include `at` is replaced: it
 * then begins there.
 */
export async function openKept(job: JobFiles, at: Bytes, context: Context): Promise<KeptOutput> {
  const outputs = {
    out: await openStream(job, 'out', at.out, context),
    err: await openStream(job, 'err', at.err, context),
  };
  return {
    get end() {
      return { out: outputs.out.end(), err: outputs.err.end() };
    },
    get fault() {
      return outputs.out.fault() ?? outputs.err.fault();
    },
    append: (from, bytes) => outputs[from].append(bytes),
    read: (from, offset) => outputs[from].read(offset),
    dropBefore: (from, offset) => outputs[from].dropBefore(offset),
    close() {
      for (const one of Object.values(outputs)) one.close();
    },
  };
}

async function openStream(job: JobFiles, from: From, at: number, context: Context) {
  const base = await jobPath(job.uid, from, context);
  let fault: CliError | undefined;
  let segments: OpenSegment[] = [];
  const fail = (error: unknown) => {
    const message = `Could not keep the output: ${dirname(base)} (${faultOf(error)}).`;
    fault ??= new CliError('storage', message, { cause: error });
  };
  const open = ({ path, start }: Pick<Segment, 'path' | 'start'>) => {
    const file = openSync(path, 'a+', 0o600);
    takeFolderOwner(path);
    const segment = { path, start, file, size: fstatSync(file).size };
    segments.push(segment);
    return segment;
  };
  const remove = ({ path, file }: OpenSegment) => {
    closeSync(file);
    rmSync(path, { force: true });
  };
  const end = () => {
    const last = segments.at(-1);
    return last === undefined ? at : last.start + last.size;
  };
  try {
    await privateFolder(dirname(base));
    for (const segment of await segmentsOf(job, from, context)) open(segment);
    const [first] = segments;
    if (first === undefined || at < first.start || at > end()) {
      for (const segment of segments) remove(segment);
      segments = [];
      open({ path: `${base}.${at}`, start: at });
    }
  } catch (error) {
    fail(error);
  }
  return {
    end,
    fault: () => fault,
    append(bytes: Uint8Array): number {
      let done = 0;
      try {
        while (done < bytes.length && fault === undefined) {
          let last = segments.at(-1);
          if (last === undefined || last.size >= SEGMENT) {
            last = open({ path: `${base}.${end()}`, start: end() });
          }
          const most = Math.min(bytes.length - done, SEGMENT - last.size);
          const count = writeSync(last.file, bytes, done, most);
          last.size += count;
          done += count;
        }
      } catch (error) {
        fail(error);
      }
      return done;
    },
    read(offset: number): Uint8Array {
      const segment = segments.find(({ start, size }) => offset < start + size);
      if (segment === undefined) return new Uint8Array();
      const chunk = Buffer.alloc(CHUNK);
      const most = Math.min(CHUNK, segment.start + segment.size - offset);
      return chunk.subarray(0, readSync(segment.file, chunk, 0, most, offset - segment.start));
    },
    dropBefore(offset: number): void {
      for (const segment of [...segments]) {
        if (segment.start + segment.size > offset - MOST_KEPT || segment === segments.at(-1))
          return;
        remove(segment);
        segments.shift();
      }
    },
    close() {
      for (const { file } of segments) closeSync(file);
    },
  };
}

/** Returns the last segments of an output without a gap. */
async function segmentsOf(job: JobFiles, from: From, context: Context): Promise<Segment[]> {
  const files = await outputFiles(job.uid, from, context);
  let segments: Segment[] = [];
  for (const { path, start } of files) {
    const last = segments.at(-1);
    if (last !== undefined && last.start + last.size !== start) segments = [];
    segments.push({ path, start, size: statSync(path).size });
  }
  return segments;
}

interface Wanted {
  /** The number of bytes of the command's output to skip. */
  readonly after?: number;
  /** The number of last lines to print. */
  readonly lines?: number | undefined;
}

/** Returns the number of bytes at the start and at the end of an output that are not kept. */
export async function missingOf(
  job: JobFiles & Pick<JobRecord, 'printed'>,
  from: From,
  context: Context,
): Promise<{ readonly first: number; readonly last: number }> {
  const segments = await segmentsOf(job, from, context);
  const { start, size } = segments.at(-1) ?? { start: 0, size: 0 };
  // On a full disk, output was printed that was not kept.
  return {
    first: segments[0]?.start ?? 0,
    last: Math.max(0, job.printed[from] - start - size),
  };
}

/** Reads a kept output of a job. Throws CliError('notFound') if it was not kept. */
export async function* keptOutput(
  job: JobFiles,
  from: From,
  { after = 0, lines }: Wanted,
  context: Context,
): AsyncGenerator<Uint8Array> {
  const path = await jobPath(job.uid, from, context);
  try {
    const segments = await segmentsOf(job, from, context);
    if (segments.length === 0) {
      throw new CliError('notFound', `The output of the job on ${job.name} was not kept.`);
    }
    const start = lines === undefined ? after : lastLines(segments, lines);
    for (const segment of segments) yield* bytesOf(segment, Math.max(0, start - segment.start));
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError('storage', `Could not read ${path} (${faultOf(error)}).`, { cause: error });
  }
}

/** Lines of a failed setup to show, and their characters at most. */
const [LINES, LONGEST] = [10, 2_000];

/**
 * Returns the last lines of a failed setup; null if they are not on this computer. Throws
 * CliError('storage').
 */
export async function setupOutput(job: JobRecord, context: Context): Promise<string | null> {
  if (!hasFailedSetup(job)) return null;
  const chunks: Uint8Array[] = [];
  const read = async () => {
    for await (const chunk of keptOutput(job, 'err', { lines: LINES }, context)) chunks.push(chunk);
  };
  const [fault] = await failuresOf(read());
  if (fault !== undefined && fault.failure !== 'notFound') throw fault;
  return Buffer.concat(chunks).toString().slice(-LONGEST) || null;
}

function* bytesOf({ path }: Segment, from: number): Generator<Uint8Array> {
  const file = openSync(path, 'r');
  try {
    const chunk = Buffer.alloc(CHUNK);
    for (let at = from; ; ) {
      const count = readSync(file, chunk, 0, CHUNK, at);
      if (count === 0) return;
      at += count;
      yield chunk.subarray(0, count);
    }
  } finally {
    closeSync(file);
  }
}

/** Returns the offset of the last lines. The last line may have no line end. */
function lastLines(segments: readonly Segment[], lines: number): number {
  let left = lines;
  let isLast = true;
  let first = 0;
  for (const { path, start, size } of segments.toReversed()) {
    first = start;
    const file = openSync(path, 'r');
    try {
      const chunk = Buffer.alloc(CHUNK);
      for (let end = size; end > 0; ) {
        const from = Math.max(0, end - CHUNK);
        const count = readSync(file, chunk, 0, end - from, from);
        for (let at = count - 1; at >= 0; at -= 1) {
          if (chunk[at] === LINE_FEED && !isLast) left -= 1;
          isLast = false;
          if (left === 0) return start + from + at + 1;
        }
        end = from;
      }
    } finally {
      closeSync(file);
    }
  }
  return first;
}
