import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
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

const signal = new AbortController().signal;

test('leaves a file unchanged at an interrupt', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, 'text');
  const interrupt = new AbortController();
  const reading = readText('--file', file, { signal: interrupt.signal });
  interrupt.abort(new Error('interrupted'));
  await expect(reading).rejects.toThrow('interrupted');
  expect(readFileSync(file, 'utf8')).toBe('text');
});

test.each([
  ['x', 'no such file'],
  ['', 'is a folder, not a file'],
  ['file/x', "can't read the file (ENOTDIR)"],
  ['bytes', 'must be UTF-8'],
])('names what is wrong with the file %j', async (name, words) => {
  writeFileSync(join(folder, 'file'), 'text');
  writeFileSync(join(folder, 'bytes'), Buffer.from([0xff]));
  const path = join(folder, name);
  const fault = { failure: 'usage', message: `--file "${path}": ${words}` };
  await expect(readText('--file', path, { signal })).rejects.toMatchObject(fault);
});

test.each(['folder', 'file', 'nothing'] as const)('reads stdin of a %s', async (kind) => {
  const file = join(folder, 'file');
  writeFileSync(file, 'text');
  const fd = kind === 'nothing' ? 2 ** 30 : openSync(kind === 'folder' ? folder : file, 'r');
  onTestFinished(() => {
    if (kind !== 'nothing') closeSync(fd);
  });
  const stdin = Object.assign(Readable.from(['text']), { fd });
  const reading = readStdin('KEY', { stdin, signal });
  if (kind === 'folder') await expect(reading).rejects.toThrow('KEY "-": stdin is a folder');
  else expect(await reading).toBe('text');
});

test('reads no more of an endless stdin than the limit', async () => {
  const whole = Buffer.alloc(1024 * 1024, 'x');
  const all = readStdin('--file', { stdin: Readable.from([whole]), signal });
  expect(await all).toHaveLength(whole.length);
  let read = 0;
  function* endless() {
    for (; read < 64; read += 1) yield whole;
  }
  const stdin = Readable.from(endless());
  const reading = readStdin('--file', { stdin, signal });
  await expect(reading).rejects.toThrow('--file "stdin": longer than 1 MiB');
  expect(read).toBeLessThan(32);
});
