import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { envelope } from '../support/service.ts';
import { type Installation, install } from './installation.ts';

const TOTAL = 650;

const service = createServer(({ url }, response) => {
  const { searchParams } = new URL(url ?? '', 'http://x');
  const page = Number(searchParams.get('page'));
  const limit = Number(searchParams.get('limit'));
  const first = (page - 1) * limit;
  const data = Array.from({ length: Math.min(limit, Math.max(0, TOTAL - first)) }, (_, at) => ({
    id: `t-${TOTAL - first - at}`,
    amount: '89.90',
  }));
  const meta = { total: TOTAL, page, limit, total_pages: Math.ceil(TOTAL / limit) };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(envelope(data, 200, meta)));
});

let at: Installation;

beforeAll(async () => {
  at = await install();
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  await at.remove();
  service.close();
});

/** V8 refuses code cached under other flags, and flags change while pages are read. */
test('leaves cached code unchanged after many pages', async () => {
  const { port } = service.address() as AddressInfo;
  const env = {
    GPUCLOUD_BASE_URL: `http://127.0.0.1:${port}`,
    GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
  };
  const read = () => at.run(['billing', 'transactions', '--all', '-o', 'jsonl'], { env });
  const first = await read();
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout.split('\n')).toHaveLength(TOTAL + 1);

  const files = await at.codeFiles();
  expect(files).not.toEqual([]);
  const written = () => Promise.all(files.map((file) => stat(file)));
  const before = await written();
  expect((await read()).stdout).toBe(first.stdout);
  const after = await written();
  expect(after.map(({ ino, mtimeMs }) => [ino, mtimeMs])).toEqual(
    before.map(({ ino, mtimeMs }) => [ino, mtimeMs]),
  );
});
