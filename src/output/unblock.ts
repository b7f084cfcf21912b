import { constants, fstatSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../system/error-code.ts';

/** Milliseconds between two attempts to write to a terminal that accepts nothing. */
const PAUSE = 20;

/**
 * Makes a terminal's stream wait without blocking the process. Node blocks in each write while a
 * terminal is stopped (Ctrl-S, a selection): neither signals nor
 * deadlines would then work. A descriptor of our own is set to non-blocking, since other programs
 * share the original one.
 */
export function unblock(stream: NodeJS.WriteStream, descriptor: number, platform: string): void {
  if (!stream.isTTY) return;
  const path = pathOf(descriptor, platform);
  if (path === undefined) return;
  let terminal: number;
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    terminal = openSync(path, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    // After `su`, the terminal belongs to another user.
    return;
  }
  function write(bytes: Buffer, from: number, done: (error?: Error | null) => void): void {
    let at = from;
    try {
      while (at < bytes.length) at += writeSync(terminal, bytes, at);
      done();
    } catch (error) {
      if (errorCode(error) === 'EAGAIN') setTimeout(() => write(bytes, at, done), PAUSE);
      else done(error as Error);
    }
  }
  stream._write = (chunk: string | Uint8Array, encoding, done) =>
    write(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk), 0, done);
  Object.defineProperty(stream, '_writev', { value: null });
}

/** Returns a path that opens the terminal anew. */
function pathOf(descriptor: number, platform: string): string | undefined {
  if (platform === 'linux') return `/proc/self/fd/${descriptor}`;
  if (platform !== 'darwin') return undefined;
  // macOS has no such path that opens a terminal anew.
  const { rdev } = fstatSync(descriptor);
  const names = readdirSync('/dev').filter((name) => name.startsWith('ttys'));
  return names.map((name) => join('/dev', name)).find((path) => statSync(path).rdev === rdev);
}
