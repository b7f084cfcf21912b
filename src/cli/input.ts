import { open } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Context } from '../context.ts';
import { type CliError, usageError } from '../errors.ts';
import { faultOf } from '../files/error-code.ts';

/** What people give by hand is short; more than this is a mistake, or `/dev/zero`. */
const LONGEST = 1024 * 1024;

/** Reads a file that a flag or argument names, or stdin for `-`. Throws a usage error naming both. */
export async function readInput(
  flag: string,
  path: string,
  context: Context,
  longest = LONGEST,
): Promise<string> {
  return path === '-' ? readStdin(flag, context, longest) : readText(flag, path, context, longest);
}

/** Reads a text file of at most 1 MiB. Throws a usage error that names the flag and the file. */
export async function readText(
  flag: string,
  path: string,
  { signal }: Pick<Context, 'signal'>,
  longest = LONGEST,
): Promise<string> {
  const handle = await open(path).catch((error: unknown) => {
    throw unreadable(flag, path, error);
  });
  // The stream closes the file, read to its end or not.
  return wholeText(flag, path, handle.createReadStream(), signal, longest);
}

/** Reads stdin to its end, at most 1 MiB. */
export async function readStdin(
  flag: string,
  { stdin, signal }: Pick<Context, 'stdin' | 'signal'>,
  longest = LONGEST,
): Promise<string> {
  // Node gives an empty stream for a folder, and nothing would be taken for an empty list.
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
  signal.throwIfAborted();
  let text = '';
  try {
    // Ctrl-C ends the reading of a pipe that nobody writes to.
    for await (const chunk of addAbortSignal(signal, stream.setEncoding('utf8'))) {
      text += chunk;
      if (text.length > longest) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw unreadable(flag, from, error);
  }
  if (text.length > longest) {
    throw usageError(`${flag} "${from}": longer than ${longest / 1024 / 1024} MiB`);
  }
  return text;
}

function unreadable(flag: string, from: string, error: unknown): CliError {
  return usageError(`${flag} "${from}": the file can't be read (${faultOf(error)})`);
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

/** Stands for the names on stdin where a verb takes several things. */
export const STDIN = '-';

/** For the help of the argument, after what it takes. */
export const OR_STDIN = '; - reads them from stdin, one per line';

/**
 * The things that were named, those on stdin in the place of `-`: one per line, blank lines skipped,
 * at most 1 MiB. Nothing on stdin is no error, so that a pipe whose list is empty does nothing.
 * Throws a usage error where stdin is a terminal: whoever sits there would wait for nothing.
 */
export async function severalGiven(
  argument: string,
  typed: readonly string[],
  context: Context,
): Promise<readonly string[]> {
  const at = typed.indexOf(STDIN);
  if (at < 0) {
    return typed;
  }
  if (typed.indexOf(STDIN, at + 1) >= 0) {
    throw usageError(`${argument} "-": stdin can be read once only`);
  }
  if (context.stdin.isTTY === true) {
    throw usageError(
      `${argument} "-": stdin is a terminal`,
      'pipe a list into it: gpucloud instances list -q | gpucloud instances stop -',
    );
  }
  const text = await readStdin(argument, context);
  const lines = text.split('\n').map((line) => line.trim());
  const named = lines.filter((line) => line !== '');
  if (named.length === 0) {
    context.err.note('Nothing is named on stdin.');
  }
  return [...typed.slice(0, at), ...named, ...typed.slice(at + 1)];
}
