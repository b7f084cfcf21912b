import { open } from 'node:fs/promises';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';

/** What people give by hand is short; more than this is a mistake, or `/dev/zero`. */
const LONGEST = 1024 * 1024;

/** Reads a file that a flag or argument names, or stdin for `-`. Throws a usage error naming both. */
export async function readInput(flag: string, path: string, context: Context): Promise<string> {
  return path === '-' ? readStdin(flag, context) : readText(flag, path);
}

/** Reads a text file of at most 1 MiB. Throws a usage error that names the flag and the file. */
export async function readText(flag: string, path: string): Promise<string> {
  let text = '';
  try {
    const file = await open(path);
    // The stream closes the file, read to its end or not.
    for await (const chunk of file.createReadStream({ encoding: 'utf8' })) {
      text += chunk;
      if (text.length > LONGEST) break;
    }
  } catch (error) {
    const reason =
      error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    throw usageError(`${flag} "${path}": the file can't be read (${reason})`);
  }
  return atMost(flag, path, text);
}

/** Reads stdin to its end, at most 1 MiB. */
export async function readStdin(flag: string, context: Context): Promise<string> {
  let text = '';
  for await (const chunk of context.stdin.setEncoding('utf8')) {
    text += chunk;
    if (text.length > LONGEST) break;
  }
  return atMost(flag, 'stdin', text);
}

function atMost(flag: string, from: string, text: string): string {
  if (text.length > LONGEST) {
    throw usageError(`${flag} "${from}": longer than 1 MiB`);
  }
  return text;
}
