import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import {
  type KeptOutput,
  keptOutput,
  missingOf,
  openKept,
  setupOutput,
} from '../../src/jobs/kept.ts';
import { createPrinter } from '../../src/jobs/printer.ts';
import { jobRecord } from '../support/job-record.ts';
import { openFiles } from '../support/open-files.ts';
import { fc, runs } from '../support/random.ts';
import { turns } from '../support/until.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const MB = 1024 * 1024;
const job = { uid: ID, name: 'job' };
const never = new AbortController().signal;

let state: string;
let context: Context;
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'gpucloud-kept-'));
  context = { folders: async () => ({ state }) } as unknown as Context;
});
afterEach(async () => {
  expect(await openFiles(state)).toEqual([]);
  await rm(state, { recursive: true });
});

const opened = (out = 0) => openKept(job, { out, err: 0 }, context);
const names = async () =>
  (await readdir(join(state, 'jobs'))).filter((name) => name.includes('.out')).sort();

/** Each 4 bytes are their own offset. */
function bytesAt(at: number, count: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(count / 4) + 1);
  const first = at - (at % 4);
  for (let word = 0; word < words.length; word += 1) words[word] = first + 4 * word;
  return new Uint8Array(words.buffer, at % 4, count);
}

async function read(wanted = {}): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of keptOutput(job, 'out', wanted, context))
    chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

describe('kept output', () => {
  test('is in files of 32 MB, of which the oldest go once 64 MB are printed after them', async () => {
    const kept = await opened();
    for (let at = 0; at < 100 * MB; at += 10 * MB) {
      expect(kept.append('out', bytesAt(at, 10 * MB))).toBe(10 * MB);
    }
    const all = [0, 32, 64, 96].map((at) => `${ID}.out.${at * MB}`).sort();
    for (const at of [32 * MB - 4, 32 * MB, 64 * MB + 8])
      expect([at, Buffer.from(kept.read('out', at)).readUInt32LE()]).toEqual([at, at]);
    expect(kept.read('out', 100 * MB)).toHaveLength(0);
    expect(await names()).toEqual(all);
    kept.dropBefore('out', 96 * MB - 1);
    expect(await names()).toEqual(all);
    kept.dropBefore('out', 96 * MB);
    expect(await names()).toEqual(all.filter((name) => !name.endsWith('.0')));
    kept.close();
    for (const [out, last] of [
      [101 * MB, MB],
      [100 * MB, 0],
      [99 * MB, 0],
    ] as const) {
      const missing = await missingOf({ ...job, printed: { out, err: 0 } }, 'out', context);
      expect(missing).toEqual({ first: 32 * MB, last });
    }
    let at = 32 * MB;
    for await (const chunk of keptOutput(job, 'out', {}, context)) {
      if (Buffer.compare(chunk, bytesAt(at, chunk.length)) !== 0) break;
      at += chunk.length;
    }
    expect(at).toBe(100 * MB);
    for (const name of await names()) {
      expect((await stat(join(state, 'jobs', name))).mode & 0o777).toBe(0o600);
    }
  });

  test.each([
    ['at its end', 6, 6, ['0']],
    ['inside of it', 3, 6, ['0']],
    ['after a gap', 7, 7, ['7']],
  ])('continues %s', async (_where, at, end, files) => {
    const first = await opened();
    first.append('out', bytesAt(0, 6));
    first.close();
    const kept = await opened(at);
    expect(kept.end).toEqual({ out: end, err: 0 });
    expect(await names()).toEqual(files.map((name) => `${ID}.out.${name}`));
    kept.close();
  });

  test('keeps its last file, however much a full disk did not keep after it', async () => {
    const kept = await opened();
    kept.append('out', bytesAt(0, 6));
    kept.dropBefore('out', 200 * MB);
    kept.close();
    expect(await names()).toEqual([`${ID}.out.0`]);
  });

  test('begins again before its first byte', async () => {
    (await opened(5)).close();
    const kept = await opened(2);
    expect(kept.end.out).toBe(2);
    expect(await names()).toEqual([`${ID}.out.2`]);
    kept.close();
  });

  test('is missing if it was never kept, and empty if the command printed nothing', async () => {
    await expect(read()).rejects.toMatchObject({ failure: 'notFound' });
    const failed = jobRecord({ id: ID, name: 'job', service: '' }, { setup_exit_code: 1 });
    expect(await setupOutput(failed, context)).toBeNull();
    (await opened()).close();
    expect(await read()).toHaveLength(0);
    expect(await setupOutput(failed, context)).toBeNull();
  });

  test('begins after the last gap', async () => {
    await mkdir(join(state, 'jobs'));
    for (const [at, size] of [
      [0, 4],
      [8, 4],
      [12, 4],
    ] as const) {
      await writeFile(join(state, 'jobs', `${ID}.out.${at}`), bytesAt(at, size));
    }
    for (const lines of [undefined, 9]) {
      expect((await read({ lines })).equals(bytesAt(8, 8))).toBe(true);
    }
  });

  const long = 'y'.repeat(64 * 1024);
  test.each([
    [['a\nb\nc'], 1, 'c'],
    [['a\nb\nc\n'], 1, 'c\n'],
    [['a\nb\nc\n'], 2, 'b\nc\n'],
    [['a\n\n\n'], 2, '\n\n'],
    [['a\nb\n'], 2, 'a\nb\n'],
    [['a\nb\n'], 9, 'a\nb\n'],
    [['a\nb', 'c\nd\n'], 2, 'bc\nd\n'],
    [['a\nb', 'c\nd\n'], 1, 'd\n'],
    [['a\n', 'b\n'], 1, 'b\n'],
    [[`\n${long}`], 1, long],
    [[`x\n${long}\n`], 1, `${long}\n`],
    [[`${long.slice(1)}\ny\n`], 1, 'y\n'],
    [['line\n'.repeat(40_000)], 30_000, 'line\n'.repeat(30_000)],
    [['', ''], 1, ''],
  ])('reads the last lines, row %#', async (segments, lines, text) => {
    await mkdir(join(state, 'jobs'));
    let at = 0;
    for (const segment of segments) {
      await writeFile(join(state, 'jobs', `${ID}.out.${at}`), segment);
      at += segment.length;
    }
    expect((await read({ lines })).toString()).toBe(text);
  });

  test('closes its file if it is read no further', async () => {
    const kept = await opened();
    kept.append('out', bytesAt(0, 8));
    kept.close();
    for await (const _chunk of keptOutput(job, 'out', {}, context)) break;
  });

  test('reports why it could not be stored', async () => {
    await writeFile(join(state, 'jobs'), '');
    const kept = await opened(3);
    expect(kept.append('out', bytesAt(3, 4))).toBe(0);
    expect(kept.end.out).toBe(3);
    expect(kept.fault).toMatchObject({ failure: 'storage' });
    expect(kept.read('out', 3)).toHaveLength(0);
  });

  test('reports why bytes could not be added or read', async () => {
    const kept = await opened();
    expect(kept.append('out', bytesAt(0, 4))).toBe(4);
    kept.close();
    expect(kept.append('out', bytesAt(4, 4))).toBe(0);
    const folder = join(state, 'jobs');
    expect(kept.fault?.message).toBe(`Could not keep the output: ${folder} (EBADF).`);
    for (const from of ['out', 'err']) {
      await rm(join(folder, `${ID}.${from}.0`));
      await mkdir(join(folder, `${ID}.${from}.0`));
    }
    const unread = (from: string) => `Could not read ${join(folder, `${ID}.${from}`)} (EISDIR).`;
    await expect(read()).rejects.toMatchObject({ failure: 'storage', message: unread('out') });
    const failed = jobRecord({ id: ID, name: 'job', service: '' }, { setup_exit_code: 1 });
    await expect(setupOutput(failed, context)).rejects.toThrow(unread('err'));
  });
});

/** Prints to nowhere what a command prints that still runs, unless `more` differs. */
function printerOf(
  kept: KeptOutput,
  more: Partial<Parameters<typeof createPrinter>[0]>,
  mostWaiting?: number,
) {
  const how = {
    ...{ kept, start: { out: 0, err: 0 }, print: async () => undefined },
    ...{ onPrinted: () => undefined, onFault: () => undefined, hasExited: async () => false },
  };
  return createPrinter({ ...how, ...more }, mostWaiting);
}

describe('the printer', () => {
  test('prints each byte once, whatever the pace of the reader and the process', async () => {
    const step = fc.record({
      count: fc.integer({ min: 1, max: 200_000 }),
      pause: fc.integer({ min: 0, max: 2 }),
      // The process is killed, and another one continues.
      isKilled: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        await rm(join(state, 'jobs'), { recursive: true, force: true });
        const printed: Buffer[] = [];
        let position = { out: 0, err: 0 };
        let sent = 0;
        const begin = async () => {
          let isAlive = true;
          const kept = await openKept(job, position, context);
          const printer = printerOf(kept, {
            start: position,
            async print(_from, bytes) {
              await new Promise((resolve) => setImmediate(resolve));
              if (!isAlive) return new Promise(() => undefined);
              printed.push(Buffer.from(bytes));
            },
            onPrinted: () => {
              position = { ...printer.printed };
            },
            onFault: (fault) => {
              throw fault;
            },
          });
          const kill = () => {
            isAlive = false;
            kept.close();
          };
          return { kept, printer, kill };
        };
        let now = await begin();
        for (const { count, pause, isKilled } of steps) {
          await now.printer.receive('out', bytesAt(sent, count), never);
          sent += count;
          for (let at = 0; at < pause; at += 1) {
            await new Promise((resolve) => setTimeout(resolve, 1));
          }
          if (!isKilled) continue;
          now.kill();
          await new Promise((resolve) => setTimeout(resolve, 1));
          now = await begin();
          expect(now.kept.end.out).toBe(sent);
        }
        await now.printer.finish(never);
        now.kept.close();
        expect(Buffer.concat(printed).equals(bytesAt(0, sent))).toBe(true);
      }),
      { numRuns: runs(100) },
    );
  });

  test('prints both outputs at once, and more of each while it waits for its reader', async () => {
    const kept = await opened();
    const printed: string[] = [];
    const readers: (() => void)[] = [];
    const printer = printerOf(kept, {
      async print(from, bytes) {
        printed.push(`${from} ${Buffer.from(bytes)}`);
        await new Promise<void>((resolve) => readers.push(resolve));
      },
    });
    for (const [from, text] of [
      ['err', 'a'],
      ['out', 'b'],
      ['err', 'c'],
      ['err', 'd'],
    ] as const)
      await printer.receive(from, Buffer.from(text), never);
    expect({ printed, at: printer.printed }).toEqual({
      printed: ['err a', 'out b'],
      at: { out: 0, err: 0 },
    });
    const finished = printer.finish(never);
    while (readers.length > 0) {
      readers.shift()?.();
      await turns();
    }
    await finished;
    expect({ printed, at: printer.printed }).toEqual({
      printed: ['err a', 'out b', 'err cd'],
      at: { out: 1, err: 3 },
    });
    kept.close();
  });

  test('passes on what could not be kept, in order, and reports the fault once', async () => {
    await writeFile(join(state, 'jobs'), '');
    const kept = await opened();
    const printed: Buffer[] = [];
    const faults: Error[] = [];
    const printer = printerOf(kept, {
      print: async (_from, bytes) => void printed.push(Buffer.from(bytes)),
      onFault: (fault) => faults.push(fault),
    });
    await printer.receive('out', bytesAt(0, 5), never);
    await printer.receive('out', bytesAt(5, 5), never);
    expect(Buffer.concat(printed).equals(bytesAt(0, 10))).toBe(true);
    expect(faults).toHaveLength(1);
    expect(printer.printed.out).toBe(10);
  });

  test('receives no more than the limit before its reader', async () => {
    const kept = await opened();
    let read: () => void = () => undefined;
    const print = () => new Promise<void>((resolve) => (read = resolve));
    const printer = printerOf(kept, { print, hasExited: () => new Promise(() => undefined) }, 8);
    await printer.receive('out', bytesAt(0, 8), never);
    let isReceived = false;
    const received = printer.receive('out', bytesAt(8, 4), never).then(() => {
      isReceived = true;
    });
    await turns();
    expect(isReceived).toBe(false);
    read();
    await received;
    expect(printer.printed.out).toBe(8);
    kept.close();
  });

  test('receives everything once the command has exited, although nobody reads', async () => {
    const kept = await opened();
    let looks = 0;
    const hasExited = async () => {
      looks += 1;
      if (looks === 2) throw new Error('no look');
      return looks === 3;
    };
    const printer = printerOf(kept, { print: () => new Promise(() => undefined), hasExited }, 8);
    await printer.receive('out', bytesAt(0, 12), never);
    await printer.receive('out', bytesAt(12, 20), never);
    expect({ looks, end: kept.end.out, printed: printer.printed.out }).toEqual({
      looks: 3,
      end: 32,
      printed: 0,
    });
    kept.close();
  });

  test('prints results after the output, and fails if kept output has become shorter', async () => {
    const printed: string[] = [];
    const kept = {
      ...{ end: { out: 2, err: 1 }, fault: undefined, close: () => undefined },
      ...{ append: () => 0, dropBefore: () => undefined },
      read: (from: string) => Buffer.from(from === 'out' ? 'ab' : ''),
    };
    const printer = printerOf(kept, {
      async print(_from, bytes) {
        if (bytes.length < 3) await turns();
        printed.push(String(Buffer.from(bytes)));
      },
    });
    await printer.printAfter('out', Buffer.from('result'));
    expect(printed).toEqual(['ab', 'result']);
    await expect(printer.finish(never)).rejects.toThrow('The kept output has become shorter.');
  });

  test('waits for a reader no longer than its signal', async () => {
    const kept = await opened();
    const stop = new AbortController();
    const reason = new CliError('interrupted', 'Interrupted.');
    const print = () => new Promise<never>(() => undefined);
    const hasExited = async () => {
      await turns();
      return false;
    };
    const printer = printerOf(kept, { print, hasExited }, 5);
    await printer.receive('out', bytesAt(0, 5), never);
    const received = printer.receive('out', bytesAt(5, 1), stop.signal);
    const finished = printer.finish(stop.signal);
    stop.abort(reason);
    for (const end of [received, finished]) await expect(end).rejects.toBe(reason);
    kept.close();
  });
});
