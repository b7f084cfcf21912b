import { type FileHandle, open } from 'node:fs/promises';
import { platform } from 'node:os';
import type { Readable } from 'node:stream';
import { checkedSecret } from '../../cli/parse.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { errorCode } from '../../files/error-code.ts';
import { apiKey } from '../../rules/service.ts';

/** Far more than any key; what is longer is another file, and is not read to its end. */
const MOST_BYTES = 64 * 1024;

/** Reads the key from stdin. Throws CliError('usage') for what can't be a key, without repeating it. */
export async function keyFromStdin({ stdin, signal }: Context): Promise<string> {
  if (stdin.isTTY === true) {
    throw usageError(
      '--key-stdin: stdin is a terminal, where the key would be seen',
      'leave the flag out to be asked for the key without an echo',
    );
  }
  return keyIn('--key-stdin', await wholeText('--key-stdin', stdin, signal));
}

/** The same from a file, which may be a pipe of the shell. */
export async function keyFromFile(path: string, { err, signal }: Context): Promise<string> {
  const flag = `--key-file "${path}"`;
  const handle = await opened(flag, path);
  try {
    const stream = handle.createReadStream({ autoClose: false });
    const key = keyIn(flag, await wholeText(flag, stream, signal));
    const { mode } = await handle.stat();
    // Windows has no such modes: there Node makes them up.
    if (platform() !== 'win32' && (mode & 0o044) !== 0) {
      err.warn(`${path} can be read by others on this computer: chmod 600 it, or make a new key.`);
    }
    return key;
  } finally {
    await handle.close();
  }
}

async function opened(flag: string, path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    throw unreadable(flag, error);
  }
}

async function wholeText(flag: string, stream: Readable, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  // A pipe that nobody writes to would hold the command for ever.
  const stop = () => stream.destroy(signal.reason instanceof Error ? signal.reason : undefined);
  signal.addEventListener('abort', stop, { once: true });
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk);
      chunks.push(bytes);
      size += bytes.length;
      if (size > MOST_BYTES) {
        break;
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    throw unreadable(flag, error);
  } finally {
    signal.removeEventListener('abort', stop);
  }
  if (size > MOST_BYTES) {
    throw usageError(`${flag}: a key is at most 64 KiB long, and here is more`);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function keyIn(flag: string, text: string): string {
  return checkedSecret(flag, text.replace(/\r?\n$/, ''), apiKey);
}

function unreadable(flag: string, error: unknown): Error {
  const why = errorCode(error) ?? 'unknown';
  return usageError(`${flag}: it can't be read (${why})`);
}
