import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Computer, createComputer } from '../support/program.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { type Handler, type Service, startService } from '../support/service.ts';

/** Several of the built program that ask for one name at once. */
const RACERS = 4;

let computer: Computer;
let service: Service;
let handler: Handler;
beforeEach(async () => {
  computer = await createComputer();
  service = await startService((request) => handler(request));
});
afterEach(async () => {
  await service.close();
  await computer.remove();
});

const KEY = { id: 'c0ffee00-0000-4000-8000-000000000001', name: 'laptop' };
const env = () => ({
  GPUCLOUD_BASE_URL: service.url,
  GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
});
const posts = () => service.requests.filter(({ method }) => method === 'POST').length;
const ok = (data: unknown) => ({ status: 200, body: { status: 'success', code: 200, data } });

/** Holds each answer until as many readings have come as there are racers: all have looked by then. */
function together(path: string, count: number): Handler {
  const waiting: (() => void)[] = [];
  return async (request) => {
    if (request.method === 'POST') return 'hangUp';
    if (request.path === path) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length >= count) for (const go of waiting) go();
      });
    }
    return ok(
      request.path === '/users/me' ? { id: 'user-1' } : request.path === '/ssh-keys' ? [KEY] : [],
    );
  };
}

test('of several drives create of one name at once, one sends its request', async () => {
  handler = together('/storage/drives', RACERS);
  const argv = ['drives', 'create', 'race', '--size', '5'];
  const ended = await Promise.all(
    Array.from({ length: RACERS }, () => computer.gpucloud(argv, { env: env() })),
  );
  expect(posts()).toBe(1);
  expect(ended.map(({ code }) => code)).toEqual(Array(RACERS).fill(7));
  const held = ended.filter(({ stderr }) => stderr.includes('Nothing was sent now.'));
  expect(held).toHaveLength(RACERS - 1);
  for (const { stderr } of held) {
    expect(stderr).toMatch(/error: A drive "race" was asked for .*: it may be billing\. Nothing/);
    expect(stderr).toContain('a second one all the same: --yes');
  }
  // What was not sent is nothing that anybody need settle.
  const list = await computer.gpucloud(['instances', 'recover', 'race', '--json'], { env: env() });
  expect(list.stdout.match(/"race"/g) ?? []).toHaveLength(1);
});

test('of several instances create as well', async () => {
  handler = together('/ssh-keys', RACERS);
  const argv = ['instances', 'create', 'race', ...HARDWARE, '--ssh-key', 'laptop'];
  const ended = await Promise.all(
    Array.from({ length: RACERS }, () => computer.gpucloud(argv, { env: env() })),
  );
  expect(posts()).toBe(1);
  expect(ended.map(({ code }) => code)).toEqual(Array(RACERS).fill(7));
});

test('with --yes each is meant', async () => {
  handler = together('/storage/drives', 2);
  const argv = ['drives', 'create', 'race', '--size', '5', '--yes'];
  await Promise.all([1, 2].map(() => computer.gpucloud(argv, { env: env() })));
  expect(posts()).toBe(2);
});
