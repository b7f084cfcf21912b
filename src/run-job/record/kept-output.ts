import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { errorCode, faultOf } from '../../files/error-code.ts';
import { type JobRecord, jobPath } from './record.ts';

const CHUNK = 64 * 1024;
const LINE_FEED = 10;

interface Wanted {
  /** The number of bytes of the command's output to skip. */
  readonly after?: number;
  /** The number of last lines to print. */
  readonly lines?: number | undefined;
}

/** Reads an output of an ended job from this computer. Throws CliError('notFound') if it was not kept. */
export async function* keptOutput(
  { uid, name, cut }: JobRecord,
  from: 'out' | 'err',
  { after = 0, lines }: Wanted,
  context: Context,
): AsyncGenerator<Uint8Array> {
  const path = await jobPath(uid, from, context);
  const file = opened(path, name);
  try {
    const chunk = Buffer.alloc(CHUNK);
    const start = lines === undefined ? Math.max(0, after - cut[from]) : lastLines(file, lines);
    for (let at = start; ; ) {
      const count = readSync(file, chunk, 0, CHUNK, at);
      if (count === 0) return;
      at += count;
      yield chunk.subarray(0, count);
    }
  } finally {
    closeSync(file);
  }
}

function opened(path: string, name: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    const isMissing = errorCode(error) === 'ENOENT';
    const message = isMissing
      ? `The output of the job on ${name} was not kept.`
      : `Could not read ${path} (${faultOf(error)}).`;
    throw new CliError(isMissing ? 'notFound' : 'storage', message, { cause: error });
  }
}

/** Returns the offset of the last lines. The last line may have no line end. */
function lastLines(file: number, lines: number): number {
  const { size } = fstatSync(file);
  const chunk = Buffer.alloc(CHUNK);
  let left = lines;
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - CHUNK);
    const count = readSync(file, chunk, 0, end - from, from);
    for (let at = count - 1; at >= 0; at -= 1) {
      const isEnd = chunk[at] === LINE_FEED && from + at < size - 1;
      if (isEnd) left -= 1;
      if (left === 0) return from + at + 1;
    }
    end = from;
  }
  return 0;
}
