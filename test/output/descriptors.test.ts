import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { createSink } from '../../src/output/sink.ts';
import { unblock } from '../../src/output/unblock.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { needs } from '../support/needs.ts';

function opened(path: string, flags: number): number {
  const fd = openSync(path, flags);
  onTestFinished(() => closeSync(fd));
  return fd;
}

/** A stream of a descriptor, with what it was given itself. */
function streamOf(fd: number, isTTY: boolean) {
  const own: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      own.push(String(chunk));
      done();
    },
  });
  return { own, stream: Object.assign(stream, { fd, isTTY }) };
}

const end = (stream: Writable) => new Promise<void>((resolve) => stream.end(resolve));

describe('a descriptor', needs('Linux'), () => {
  test.each([
    ['a terminal', true, 'linux', 0, 'éa€bÿ', []],
    ['what is not a terminal', false, 'linux', 0, '', ['é', 'a', '€', 'b', 'ÿ']],
    ['a terminal of Windows', true, 'win32', 0, '', ['é', 'a', '€', 'b', 'ÿ']],
    ['a terminal of another user', true, 'linux', 2 ** 30, '', ['é', 'a', '€', 'b', 'ÿ']],
  ])(
    'writes to a descriptor of its own for %s',
    async (_what, isTTY, platform, more, text, rest) => {
      const file = join(await temporaryFolder(), 'terminal');
      writeFileSync(file, '');
      const fd = opened(file, constants.O_WRONLY);
      const { own, stream } = streamOf(fd, isTTY);
      unblock(stream as never, fd + more, platform);
      // Several texts that wait are written one by one.
      stream.cork();
      stream.write('é');
      stream.write(Buffer.from('a'));
      stream.write('€', 'utf8');
      stream.write(new Uint8Array([98]));
      stream.write('\u00ff', 'utf8');
      stream.uncork();
      await end(stream);
      expect({ text: readFileSync(file, 'utf8'), own }).toEqual({ text, own: rest });
    },
  );

  test('waits without blocking for a terminal that accepts nothing', async () => {
    const fifo = join(await temporaryFolder(), 'terminal');
    execFileSync('mkfifo', [fifo]);
    const fd = opened(fifo, constants.O_RDWR | constants.O_NONBLOCK);
    const { own, stream } = streamOf(fd, true);
    unblock(stream as never, fd, process.platform);
    const text = Array.from({ length: 30_000 }, (_, at) => `${at},`).join('');
    stream.write(text);
    const ended = end(stream);
    let read = '';
    const buffer = Buffer.alloc(2 ** 16);
    for (let turn = 0; turn < 10_000 && read.length < text.length; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      try {
        read += buffer.toString('latin1', 0, readSync(fd, buffer));
      } catch {
        // Nothing is there yet.
      }
    }
    await ended;
    expect({ isWhole: read === text, own }).toEqual({ isWhole: true, own: [] });
  });

  test('writes to a file without the stream, and reports a full disk', async () => {
    const file = join(await temporaryFolder(), 'result');
    writeFileSync(file, '');
    const { own, stream } = streamOf(opened(file, constants.O_WRONLY), false);
    const sink = createSink(() => stream);
    await sink.write('é€');
    await sink.write(Buffer.from('b'));
    expect({ text: readFileSync(file, 'utf8'), own, ended: sink.ended }).toEqual({
      ...{ text: 'é€b', own: [], ended: false },
    });
    const full = createSink(() => streamOf(opened(file, constants.O_RDONLY), false).stream);
    const failed = await full.write('a').catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(CliError);
    expect(failed).toMatchObject({
      ...{ failure: 'storage', cause: { code: 'EBADF' } },
      message: 'could not write the result: EBADF: bad file descriptor, write',
    });
    expect(full.ended).toBe(true);
  });
});

test.each([
  ['all', 9, 'é€', []],
  ['a part', 3, 'é\ufffd', ['\ufffd\ufffd']],
  ['nothing', 0, '', ['é€']],
])('writes at once what the system accepts: %s', async (_what, room, first, rest) => {
  const plain: string[] = [];
  const { own, stream } = streamOf(-1, false);
  let opens = 0;
  const sink = createSink(
    () => {
      opens += 1;
      return stream;
    },
    {
      plain(bytes) {
        plain.push(Buffer.from(bytes.subarray(0, room)).toString());
        return Math.min(room, bytes.length);
      },
    },
  );
  await sink.write('é€');
  expect({ plain, own, opens }).toEqual({ plain: [first], own: rest, opens: rest.length });
});

test('stops a write for which nothing reads, for the reason of the stop', async () => {
  const stop = new AbortController();
  const stuck = new Writable({ write: () => undefined });
  const reason = new CliError('interrupted', 'Cancelled.');
  const sink = createSink(() => stuck, { stop: stop.signal });
  const written = sink.write('a').catch((error: unknown) => error);
  stop.abort(reason);
  expect(await written).toBe(reason);
  expect(sink.ended).toBe(true);
});

test.each<[string | undefined, boolean]>([
  ['EPIPE', true],
  ['ECONNRESET', true],
  ['ERR_STREAM_DESTROYED', true],
  ['ERR_STREAM_WRITE_AFTER_END', true],
  ['ENOSPC', false],
  [undefined, false],
])('takes the error %s for a reader that is gone: %s', async (code, isGone) => {
  const broken = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('broken'), { code })),
  });
  const sink = createSink(() => broken);
  const outcome = await sink.write('a').catch((error: Error) => error.message);
  expect(outcome).toBe(isGone ? undefined : 'could not write the result: broken');
  // Later writes do and say the same.
  expect(await sink.write('b').catch((error: Error) => error.message)).toBe(outcome);
  expect(sink.ended).toBe(true);
});
