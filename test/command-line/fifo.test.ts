import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, test } from 'vitest';
import { readStdin, readText } from '../../src/command-line/input.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { needs } from '../support/needs.ts';

let folder: string;
let fifo: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  fifo = join(folder, 'fifo');
  execFileSync('mkfifo', [fifo]);
});

function hasReader(): boolean {
  try {
    closeSync(openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}

// A read that is not released keeps its thread, and so this test's process, from exiting.
describe('a FIFO as a file', needs('POSIX'), () => {
  test.each([
    ['without a writer', false],
    ['whose writer is silent', true],
  ])('releases the read of a FIFO %s at an interrupt', async (_what, isOpen) => {
    const writer = isOpen ? await open(fifo, constants.O_RDWR) : undefined;
    const interrupt = new AbortController();
    const reading = readText('--file', fifo, { signal: interrupt.signal });
    const reason = new Error('interrupted');
    setImmediate(() => interrupt.abort(reason));
    await expect(reading).rejects.toBe(reason);
    await writer?.close();
    // Later, the garbage collector would close it, with a warning.
    await expect.poll(hasReader, { timeout: 5_000 }).toBe(false);
  });

  test('is not opened after an interrupt', async () => {
    const reason = new Error('interrupted');
    const reading = readText('--file', fifo, { signal: AbortSignal.abort(reason) });
    await expect(reading).rejects.toBe(reason);
  });

  test('is read to its end', async () => {
    const reading = readText('--file', fifo, new AbortController());
    const writer = await open(fifo, constants.O_WRONLY);
    await writer.write('command: make\n');
    await writer.close();
    expect(await reading).toBe('command: make\n');
  });
});

test('reads no more of an endless stdin than the limit', async () => {
  let read = 0;
  function* endless() {
    for (; read < 64; read += 1) yield Buffer.alloc(1024 * 1024, 'x');
  }
  const stdin = Readable.from(endless());
  const reading = readStdin('--file', { stdin, signal: new AbortController().signal });
  await expect(reading).rejects.toThrow('--file "stdin": longer than 1 MiB');
  expect(read).toBeLessThan(32);
});
