import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { run } from '../../src/run.ts';
import { createCursor } from '../../src/watch/cursor.ts';
import { SOAK } from '../faults/tools.ts';
import { manualClock } from '../support/clock.ts';
import { runs } from '../support/random.ts';
import { SELF } from '../support/run-cli.ts';
import { envelope } from '../support/service.ts';
import { at } from './pages.ts';

const none = () => Promise.reject(new Error('a follower starts no program'));
const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const EVENTS = SOAK ? 100_000 : runs(25_000, 10_000);
const EACH_LOOK = 100;
/** A heap limit. Storing more than the IDs would need ten times as much. */
const FLAT = 1.5 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the bytes still referenced. */
async function heldBytes(): Promise<number> {
  for (let turn = 0; turn < 3; turn += 1) {
    // Lets queued work release its memory first.
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  return process.memoryUsage().heapUsed;
}

/** Generates a log on request, so that the test holds none of it. */
function pageOf(total: number, page: number, limit: number): string {
  const newest = total - (page - 1) * limit;
  const data = Array.from({ length: Math.max(0, Math.min(limit, newest)) }, (_, index) => ({
    id: `00000000-0000-4000-8000-${String(newest - index).padStart(12, '0')}`,
    instance_id: ID,
    type: 'INFO',
    message: 'The same as ever',
    payload: { number: newest - index },
    created_at: at((newest - index) / 50),
  }));
  const meta = { total, page, limit, total_pages: Math.ceil(total / limit) };
  return JSON.stringify(envelope(data, 200, meta));
}

describe('a follower of a long log', () => {
  test.each(SOAK ? ['jsonl', 'table'] : ['jsonl'])(
    'uses no more memory after ten times as many events (%s)',
    {
      timeout: 120_000,
    },
    async (format) => {
      const stop = new AbortController();
      const held: number[] = [];
      let total = 0;
      const server = createServer(async (request, response) => {
        const query = new URL(request.url ?? '/', 'http://service').searchParams;
        const page = Number(query.get('page'));
        if (page === 1) {
          if (total === EVENTS / 10 || total === EVENTS) held.push(await heldBytes());
          if (total === EVENTS) stop.abort(new CliError('interrupted', 'Interrupted.'));
          total += EACH_LOOK;
        }
        response.setHeader('content-type', 'application/json');
        response.end(pageOf(total, page, Number(query.get('limit'))));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;

      const folder = await mkdtemp(join(tmpdir(), 'gpucloud-follow-'));
      let lines = 0;
      const sink = () =>
        new Writable({
          write(chunk: Buffer, _encoding, done) {
            for (const byte of chunk) if (byte === 10) lines += 1;
            done();
          },
        });
      // Doesn't record its sleeps, which would use memory.
      const clock = { ...manualClock(), slept: undefined };
      const code = await run(['instances', 'events', ID, '--follow', '-o', format], {
        stdin: process.stdin,
        stdout: sink(),
        stderr: new Writable({ write: (_chunk, _encoding, done) => done() }),
        env: {
          GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
          GPUCLOUD_BASE_URL: `http://127.0.0.1:${port}`,
          GPUCLOUD_STATE_DIR: folder,
          GPUCLOUD_CONFIG_DIR: folder,
        },
        clock: { ...clock, sleep: (ms, signal) => quickly(ms, signal) },
        home: undefined,
        platform: 'linux',
        pid: 1,
        self: () => SELF,
        isAlive: () => false,
        start: none,
        startPiped: none,
        interrupts: { first: stop.signal, second: new AbortController().signal },
      });
      function quickly(milliseconds: number, signal?: AbortSignal): Promise<void> {
        clock.advance(milliseconds);
        signal?.throwIfAborted();
        return new Promise((resolve) => setImmediate(resolve));
      }
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });

      expect(code).toBe(130);
      expect(lines).toBe(EVENTS + (format === 'table' ? 1 : 0));
      const [early = 0, late = 0] = held;
      expect(late - early).toBeLessThan(FLAT);
    },
  );

  test('holds at most 2,000 IDs in a cursor', () => {
    const cursor = createCursor();
    for (let number = 0; number < EVENTS; number += 1) {
      cursor.learn([{ id: `e${number}`, time: number }]);
    }
    expect(cursor.size).toBeLessThanOrEqual(2_000);
    expect(JSON.stringify(cursor.saved()).length).toBeLessThan(64 * 1024);
  });
});
