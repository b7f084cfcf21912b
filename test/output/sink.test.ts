import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { CliError } from '../../src/errors.ts';
import type { Format } from '../../src/output/output.ts';
import { createSink } from '../../src/output/sink.ts';
import { needs } from '../support/needs.ts';
import { type Instance, instances, outputOn, view } from './world.ts';

const row = instances[0] as Instance;

/** A stream that fails after a given number of writes. */
class Failing extends Writable {
  taken: string[] = [];

  constructor(
    private readonly room: number,
    private readonly code: string,
  ) {
    super({ decodeStrings: false });
  }

  override _write(chunk: string, _encoding: string, done: (error?: Error) => void): void {
    if (this.taken.length >= this.room) {
      done(Object.assign(new Error(`${this.code}: write`), { code: this.code }));
      return;
    }
    this.taken.push(chunk);
    done();
  }
}

/** Yields endless rows, and reports when the reader stopped them. */
function endless() {
  const told = { given: 0, stopped: false };
  async function* rows() {
    try {
      for (;;) {
        told.given += 1;
        yield row;
      }
    } finally {
      told.stopped = true;
    }
  }
  return { told, rows: rows() };
}

const STREAMING: Format[] = ['json', 'jsonl', 'csv', 'tsv', 'yaml', 'table', 'id'];

it("writes through the stream if it can't examine the descriptor", async () => {
  const stdout = Object.assign(new Failing(1, 'EIO'), { fd: 2 ** 30 });
  await createSink(() => stdout).write('text');
  expect(stdout.taken).toEqual(['text']);
});

describe('a closed stdout', () => {
  it.each(STREAMING)(
    'stops the source of %s rows without an error if stdout closes',
    async (format) => {
      const stdout = new Failing(1, 'EPIPE');
      const { told, rows } = endless();
      await outputOn(stdout, { format }).list(rows, view);
      expect(told.stopped).toBe(true);
      expect(told.given).toBeGreaterThan(10);
      expect(told.given).toBeLessThan(200_000);
    },
  );

  it('stops a long list early if stdout closes', async () => {
    let looked = 0;
    const counting = {
      ...view,
      id: (instance: Instance) => {
        looked += 1;
        return instance.id;
      },
    };
    const rows = Array.from({ length: 100_000 }, () => row);
    await outputOn(new Failing(1, 'EPIPE'), { format: 'id' }).list(rows, counting);
    expect(looked).toBeGreaterThan(1000);
    expect(looked).toBeLessThan(50_000);
  });

  it('prints no further output after stdout closes, and no note about an empty list', async () => {
    const stdout = new Failing(0, 'EPIPE');
    const notes: string[] = [];
    const out = outputOn(stdout, {}, undefined, (text) => notes.push(text));
    await out.text('gone');
    await out.text('gone');
    await out.item(row, view);
    await out.list([], view);
    expect(stdout.taken).toEqual([]);
    expect(notes).toEqual([]);
  });
});

it.each(['EPIPE', 'ECONNRESET'])(
  'sets unread and does not throw on %s from stdout',
  async (code) => {
    const { told, rows } = endless();
    const out = outputOn(new Failing(1, code), { format: 'jsonl' });
    await out.list(rows, view);
    expect({ ...told, unread: out.unread }).toMatchObject({ stopped: true, unread: true });
  },
);

describe('a failed write', () => {
  it.each(['ENOSPC', 'EIO'])(
    'throws a storage error if a write fails with %s, in every format and for later writes',
    async (code) => {
      for (const format of STREAMING) {
        const { told, rows } = endless();
        const out = outputOn(new Failing(1, code), { format });
        const failure = {
          failure: 'storage',
          exitCode: 9,
          message: `could not write the result: ${code}: write`,
        };
        await expect(out.list(rows, view)).rejects.toMatchObject(failure);
        expect(told.stopped).toBe(true);
        await expect(out.text('more')).rejects.toMatchObject(failure);
      }
    },
  );

  it('throws a storage error if writing a single result fails', async () => {
    const out = outputOn(new Failing(0, 'ENOSPC'), { format: 'json' });
    await expect(out.item(row, view)).rejects.toMatchObject({ failure: 'storage' });
  });

  it('throws a storage error on a device that is always full', needs('/dev/full'), async () => {
    const out = outputOn(createWriteStream('/dev/full'), { format: 'json' });
    await expect(out.list(instances, view)).rejects.toMatchObject({
      failure: 'storage',
      message: expect.stringContaining('ENOSPC'),
    });
  });
});

describe('a failing source', () => {
  async function* broken() {
    yield row;
    throw new Error('page 2');
  }

  it.each(['jsonl', 'csv', 'tsv', 'id'] as const)(
    'prints earlier rows in %s before a source fails',
    async (format) => {
      const stdout = new Failing(Number.POSITIVE_INFINITY, '');
      await expect(
        outputOn(stdout, { format, header: false }).list(broken(), view),
      ).rejects.toThrow('page 2');
      expect(stdout.taken.join('')).toContain('a1b2');
    },
  );

  it.each(['json', 'yaml', 'table'] as const)(
    'prints nothing in %s if a source fails',
    async (format) => {
      const stdout = new Failing(Number.POSITIVE_INFINITY, '');
      await expect(outputOn(stdout, { format }).list(broken(), view)).rejects.toThrow('page 2');
      expect(stdout.taken.join('')).toBe('');
    },
  );
});

describe('writing a result', () => {
  it('waits for a slow reader instead of buffering in memory', async () => {
    let held = 0;
    let most = 0;
    const slow = new Writable({
      decodeStrings: false,
      highWaterMark: 1,
      write(_chunk, _encoding, done) {
        setImmediate(() => {
          most = Math.max(most, held);
          held = 0;
          done();
        });
      },
    });
    async function* rows() {
      for (let at = 0; at < 20_000; at += 1) {
        held += 1;
        yield row;
      }
    }
    await outputOn(slow, { format: 'jsonl' }).list(rows(), view);
    // At most two batches of 64 KiB: one in flight and one filling.
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(1200);
  });

  it('writes a row without waiting for the next one', async () => {
    const stdout = new Failing(Number.POSITIVE_INFINITY, '');
    let seen = '';
    async function* events() {
      yield row;
      await new Promise((resolve) => setTimeout(resolve, 20));
      seen = stdout.taken.join('');
    }
    await outputOn(stdout, { format: 'jsonl' }).list(events(), view);
    expect(seen).toBe(`${JSON.stringify(row)}\n`);
  });

  it('passes the remainder of a partial write to the stream', async () => {
    const stdout = new Failing(Number.POSITIVE_INFINITY, '');
    let taken = '';
    const plain = (bytes: Uint8Array) => {
      taken += Buffer.from(bytes.subarray(0, 3));
      return 3;
    };
    await createSink(() => stdout, { plain }).write('abcdef');
    expect({ taken, rest: stdout.taken.join('') }).toEqual({ taken: 'abc', rest: 'def' });
  });

  it('gives up on a reader that has stopped reading, after a signal', async () => {
    const stopping = new AbortController();
    const { signal: stop } = stopping;
    const reason = new CliError('interrupted', 'Interrupted.');
    const stuck = () => createSink(() => new Writable({ write: () => undefined }), { stop });
    const sink = stuck();
    const writing = sink.write('a');
    stopping.abort(reason);
    await expect(writing).rejects.toBe(reason);
    await expect(sink.write('b')).rejects.toBe(reason);
    await expect(stuck().write('a')).rejects.toBe(reason);
    // Other readers still get what is written.
    const stdout = new Failing(2, 'EIO');
    const quick = createSink(() => stdout, { stop });
    await quick.write('a');
    await quick.write('b');
    expect(stdout.taken).toEqual(['a', 'b']);
  });

  it('throws a storage error if the stream throws', async () => {
    const throwing = new Writable();
    throwing.write = () => {
      throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
    };
    await expect(createSink(() => throwing).write('x')).rejects.toMatchObject({
      failure: 'storage',
    });
  });
});

describe('a real process', () => {
  const folders: string[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
  });

  const script = `
    const { createSink } = await import(process.argv[1]);
    process.on('SIGXFSZ', () => undefined);
    try {
      const sink = createSink(() => process.stdout);
      await sink.write('x'.repeat(5000));
      process.stderr.write('done ' + sink.ended);
    } catch (error) {
      process.stderr.write(error.failure + ' ' + error.message);
    }`;

  /** Runs the bundled sink under a shell that redirects stdout. */
  async function run(
    shell: string,
  ): Promise<{ stderr: string; code: number | null; file: string }> {
    const folder = await mkdtemp(join(tmpdir(), 'gpucloud-sink-'));
    folders.push(folder);
    const { build } = await import('esbuild');
    const bundle = join(folder, 'sink.mjs');
    const entry = new URL('../../src/output/sink.ts', import.meta.url).pathname;
    await build({
      entryPoints: [entry],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: bundle,
    });
    const file = join(folder, 'out');
    const command = `${shell.replace('PROGRAM', '"$0" --input-type=module -e "$1" "$2"')}`;
    const child = spawn('bash', ['-c', command, process.execPath, script, bundle, file]);
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return { stderr, code, file };
  }

  it('reports EFBIG if the file reaches its size limit', async () => {
    const { stderr, code, file } = await run('ulimit -f 2; PROGRAM > "$3"');
    expect(stderr).toMatch(/^storage could not write the result: EFBIG/);
    expect(code).toBe(0);
    expect((await readFile(file)).length).toBe(2048);
  });

  it('writes 5,000 bytes of output to a file', async () => {
    const { stderr, file } = await run('PROGRAM > "$3"');
    expect(stderr).toBe('done false');
    expect((await readFile(file, 'utf8')).length).toBe(5000);
  });

  it('exits with 0 when the pipe is closed', async () => {
    const { stderr, code } = await run('set -o pipefail; PROGRAM | true');
    expect(stderr).toBe('done true');
    expect(code).toBe(0);
  });
});
