import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { envelope } from '../support/service.ts';
import { taken } from '../support/signals.ts';
import { type Installation, install } from './installation.ts';

// Without a reader, a command can block forever. Two signals must end the command.

const ROWS = 500;
const ID = '11111111-2222-4333-8444-555555555555';

const INSTANCE = {
  id: ID,
  name: 'box',
  status: 'PROVISIONING',
  // Exceeds what a pipe and its reader can buffer.
  failure_reason: 'x'.repeat(1024 * 1024),
  offer: { id: '40904090-0000-4000-8000-000000000001', name: 'RTX 4090', region: 'eu-1' },
};

let asked = 0;
const service = createServer(({ url, method }, response) => {
  asked += 1;
  response.setHeader('content-type', 'application/json');
  if (method === 'POST') {
    response.statusCode = 201;
    response.end(JSON.stringify(envelope(INSTANCE, 201)));
    return;
  }
  if (url === '/users/me') {
    response.end(JSON.stringify(envelope({ id: 'account-1' })));
    return;
  }
  const page = Number(new URL(url ?? '', 'http://x').searchParams.get('page'));
  const data = Array.from({ length: ROWS }, (_, at) => ({
    id: `t-${page}-${at}`,
    amount: '89.90',
    description: 'x'.repeat(500),
  }));
  const meta = { total: 1000 * ROWS, page, limit: ROWS, total_pages: 1000 };
  response.end(JSON.stringify(envelope(data, 200, meta)));
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

/** Waits until the program stops sending requests, since nobody reads its output. */
async function stalled(): Promise<void> {
  for (let before = -1; before !== asked || asked === 0; ) {
    before = asked;
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
}

/** Starts a command whose stdout nobody reads. */
function start(argv: readonly string[]) {
  asked = 0;
  const { port } = service.address() as AddressInfo;
  const started = spawn(process.execPath, [join(at.root, 'bin', 'gpucloud.js'), ...argv], {
    env: {
      ...at.env,
      GPUCLOUD_BASE_URL: `http://127.0.0.1:${port}`,
      GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child = started;
  let told = '';
  started.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  return {
    stdout: started.stdout,
    async twice(signal: NodeJS.Signals) {
      const ended = Promise.all([once(started, 'exit'), once(started.stderr, 'end')]);
      started.kill(signal);
      await taken(started.pid ?? 0, signal);
      started.kill(signal);
      const [[code, by]] = await ended;
      return { ended: [code, by], told };
    },
  };
}

describe('a long list that nobody reads', () => {
  test.each(['jsonl', 'table', 'json'])(
    'exits with 143 at the second signal if nobody reads a long list: %s',
    async (format) => {
      const argv = ['billing', 'transactions', '--all', '--limit', String(ROWS), '-o', format];
      const started = start(argv);
      await stalled();
      const { ended, told } = await started.twice('SIGTERM');
      expect(ended).toEqual([143, null]);
      expect(told).toContain('Terminated.');
    },
  );
});

describe('a new instance whose output nobody reads', () => {
  const create = ['instances', 'create', '--name', 'box', '--offer', INSTANCE.offer.id];
  const image = ['--image', '22042204-0000-4000-8000-000000000011', '--no-ssh-key'];

  // In a new home, the catalog stores the offer under a lock, which also listens to signals.
  test.each([
    ['json', 'SIGINT', 130],
    ['jsonl', 'SIGTERM', 143],
    ['table', 'SIGINT', 130],
  ] as const)(
    "reports a new instance's ID and how to terminate it at the second signal: %s",
    async (format, signal, code) => {
      const started = start([...create, ...image, '--yes', '-o', format]);
      await once(started.stdout, 'readable');
      const { ended, told } = await started.twice(signal);
      expect(ended).toEqual([code, null]);
      expect(told).toContain(`Instance ${ID} was created.`);
      expect(told).toContain(`gpucloud instances terminate box`);
    },
  );
});
