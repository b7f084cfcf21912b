import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Installation, install } from './installation.ts';

// A reader who takes nothing holds a command back for as long as it likes; two signals end it.

const ROWS = 500;

let asked = 0;
const service = createServer(({ url }, response) => {
  asked += 1;
  const page = Number(new URL(url ?? '', 'http://x').searchParams.get('page'));
  const data = Array.from({ length: ROWS }, (_, at) => ({
    id: `t-${page}-${at}`,
    amount: '89.90',
    description: 'x'.repeat(500),
  }));
  const meta = { total: 1000 * ROWS, page, limit: ROWS, total_pages: 1000 };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ status: 'success', code: 200, data, meta }));
});

let at: Installation;
let child: ChildProcess | undefined;
beforeEach(async () => {
  at = await install();
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  child?.kill('SIGKILL');
  service.closeAllConnections();
  service.close();
  await at.remove();
});

/** Nothing is asked for any more, since nobody takes what is there. */
async function stalled(): Promise<void> {
  for (let before = -1; before !== asked || asked === 0; ) {
    before = asked;
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
}

describe('a long list that nobody takes', () => {
  test.each(['jsonl', 'table', 'json'])('ends at the second signal: %s', async (format) => {
    asked = 0;
    const { port } = service.address() as AddressInfo;
    const argv = ['billing', 'transactions', '--all', '--limit', String(ROWS), '-o', format];
    child = spawn(process.execPath, [join(at.root, 'bin', 'gpucloud.js'), ...argv], {
      env: {
        ...at.env,
        GPUCLOUD_BASE_URL: `http://127.0.0.1:${port}`,
        GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
      },
      // Nothing reads stdout.
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let told = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      told += text;
    });
    await stalled();
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 200));
    child.kill('SIGTERM');
    expect(await ended).toEqual([143, null]);
    expect(told).toContain('Terminated.');
  });
});
