import { closeSync, constants, openSync, statSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Context } from '../context.ts';
import { type CliError, usageError } from '../errors.ts';
import { gpucloud } from '../output/shell-line.ts';
import { errorCode, faultOf } from '../system/error-code.ts';
import { textOfUtf8 } from '../system/files.ts';

/** Maximum input size. Longer input is a mistake, or `/dev/zero`. */
const LONGEST = 1024 * 1024;

/**
 * Reads a file from a flag or argument, or stdin for `-`. Throws a usage error with the flag and
 * the file.
 */
export async function readInput(
  flag: string,
  path: string,
  context: Context,
  longest = LONGEST,
): Promise<string> {
  return path === '-' ? readStdin(flag, context, longest) : readText(flag, path, context, longest);
}

/** Reads a text file of at most 1 MiB. Throws a usage error with the flag and the file. */
export async function readText(
  flag: string,
  path: string,
  { signal }: Pick<Context, 'signal'>,
  longest = LONGEST,
): Promise<string> {
  signal.throwIfAborted();
  let retries: NodeJS.Timeout | undefined;
  const release = () => {
    releaseFifo(path);
    // The thread may not have opened the FIFO yet.
    retries = setInterval(() => releaseFifo(path), RELEASE);
  };
  signal.addEventListener('abort', release, { once: true });
  try {
    const handle = await open(path).catch((error: unknown) => {
      throw unreadable(flag, path, error);
    });
    // The stream closes the file.
    return await wholeText(flag, path, handle.createReadStream(), signal, longest);
  } finally {
    signal.removeEventListener('abort', release);
    clearInterval(retries);
  }
}

/** Milliseconds between two attempts to release a FIFO. */
const RELEASE = 50;

/**
 * Writes to a FIFO that this process reads. The thread that waits for its writer would otherwise
 * keep an interrupted process from exiting.
 */
function releaseFifo(path: string): void {
  try {
    if (!statSync(path).isFIFO()) return;
    const fifo = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(fifo, '\n');
    closeSync(fifo);
  } catch {
    // Not open for reading yet, or another user's.
  }
}

/** Reads all of stdin, at most 1 MiB. */
export async function readStdin(
  flag: string,
  { stdin, signal }: Pick<Context, 'stdin' | 'signal'>,
  longest = LONGEST,
): Promise<string> {
  // Rejects a folder: Node would read it as an empty stream, and so as an empty list.
  if (await isFolder(stdin)) {
    throw usageError(`${flag} "-": stdin is a folder`);
  }
  return wholeText(flag, 'stdin', stdin, signal, longest);
}

async function wholeText(
  flag: string,
  from: string,
  stream: Readable,
  signal: AbortSignal,
  longest: number,
): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    // Ctrl-C stops the read even if the pipe has no writer, and closes the file.
    for await (const chunk of addAbortSignal(signal, stream)) {
      chunks.push(Buffer.from(chunk));
      length += chunk.length;
      if (length > longest) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw unreadable(flag, from, error);
  }
  if (length > longest) {
    throw usageError(`${flag} "${from}": longer than ${longest / 1024 / 1024} MiB`);
  }
  const text = textOfUtf8(Buffer.concat(chunks));
  if (text === undefined) throw usageError(`${flag} "${from}": must be UTF-8`);
  return text;
}

function unreadable(flag: string, from: string, error: unknown): CliError {
  const code = errorCode(error);
  if (code === 'ENOENT') return usageError(`${flag} "${from}": no such file`);
  if (code === 'EISDIR') return usageError(`${flag} "${from}": is a folder, not a file`);
  return usageError(`${flag} "${from}": can't read the file (${faultOf(error)})`);
}

async function isFolder(stdin: Context['stdin']): Promise<boolean> {
  const descriptor: unknown = Reflect.get(stdin, 'fd');
  if (typeof descriptor !== 'number') return false;
  const { fstatSync } = await import('node:fs');
  try {
    return fstatSync(descriptor).isDirectory();
  } catch {
    return false;
  }
}

/** Returns the lines of a text that are not blank. */
export function linesIn(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

const LINES = { namesIn: linesIn, longest: LONGEST };

/** Argument for reading the names from stdin. */
export const STDIN = '-';

/** Added to the argument's help. */
export const OR_STDIN = '; - reads them from stdin, one per line';

/**
 * Returns the given names with `-` replaced by the names on stdin: one per line, blank lines
 * skipped, at most 1 MiB. Accepts empty stdin: an empty list in a pipe does nothing. Throws a usage
 * error if stdin is a terminal. `how` reads another form of input.
 */
export async function severalGiven(
  argument: string,
  typed: readonly string[],
  context: Context,
  how: { readonly namesIn: (text: string) => readonly string[]; readonly longest: number } = LINES,
): Promise<readonly string[]> {
  const at = typed.indexOf(STDIN);
  if (at < 0) {
    return typed;
  }
  if (typed.indexOf(STDIN, at + 1) >= 0) {
    throw usageError(`${argument} "-": stdin can be read only once`);
  }
  if (context.stdin.isTTY === true) {
    throw usageError(
      `${argument} "-": stdin is a terminal`,
      `pipe a list into it: ${gpucloud('instances', 'list', '-q')} | ${gpucloud('instances', 'stop', '-')}`,
    );
  }
  const named = how.namesIn(await readStdin(argument, context, how.longest));
  if (named.length === 0) {
    context.err.note('No names on stdin.');
  }
  return [...typed.slice(0, at), ...named, ...typed.slice(at + 1)];
}
