import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { type Computer, createComputer } from '../support/program.ts';
import { HARDWARE, OFFERED } from '../support/sandbox-ids.ts';
import { type Handler, ok, type Service, startService } from '../support/service.ts';

/** The number of processes that create the same name at once. */
const RACERS = 3;

let computer: Computer;
let service: Service;
let handler: Handler;
beforeEach(async () => {
  computer = await createComputer();
  service = await startService((request) => handler(request));
});

const KEY = { id: 'c0ffee00-0000-4000-8000-000000000001', name: 'laptop' };
const env = () => ({
  GPUCLOUD_BASE_URL: service.url,
  GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
});
const posts = () => service.requests.filter(({ method }) => method === 'POST').length;

/** Delays responses until every process has sent its request, so that all have read the list. */
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

test('sends one request when several processes create the same instance, in any spelling', async () => {
  handler = together('/ssh-keys', RACERS);
  const ended = await Promise.all(
    ['race', 'Race', 'RACE'].map((name) =>
      computer.gpucloud(['instances', 'create', name, ...OFFERED, '--ssh-key', 'laptop'], {
        env: env(),
      }),
    ),
  );
  expect(posts()).toBe(1);
  expect(ended.map(({ code }) => code)).toEqual(Array(RACERS).fill(7));
});

test('prints the same instance in several processes with --if-not-exists', async () => {
  const made: Record<string, unknown>[] = [];
  const waiting: (() => void)[] = [];
  handler = async ({ method, path, body }) => {
    if (path === '/users/me') return ok({ id: 'user-1' });
    if (path === '/ssh-keys') {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length >= RACERS) for (const go of waiting) go();
      });
      return ok([KEY]);
    }
    if (method === 'GET') return ok(made[0]);
    const { instance_name } = body as { instance_name: string };
    made.push({ id: randomUUID(), name: instance_name, status: 'PROVISIONING' });
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return ok(made.at(-1), 201);
  };
  const argv = ['instances', 'create', 'race', ...OFFERED, '--ssh-key', 'laptop'];
  const ended = await Promise.all(
    Array.from({ length: RACERS }, () =>
      computer.gpucloud([...argv, '--if-not-exists', '-q'], { env: env() }),
    ),
  );
  expect(ended).toEqual(Array(RACERS).fill({ code: 0, stdout: `${made[0]?.id}\n`, stderr: '' }));
  expect(posts()).toBe(1);
}, 120_000);

test('sends only two requests when several processes create under --max-instances 2', async () => {
  const set = [
    ['profiles', 'add', 'work', '--base-url', service.url],
    ['profiles', 'set', 'work', '--max-instances', '2'],
  ];
  for (const argv of set) expect((await computer.gpucloud(argv)).code).toBe(0);
  let made = 0;
  handler = async ({ method, path, body }) => {
    if (method === 'GET') return path === '/users/me' ? ok({ id: 'user-1' }) : ok([]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    made += 1;
    const { instance_name: name } = body as { instance_name: string };
    const id = `c0ffee00-0000-4000-8000-00000000000${made}`;
    return ok({ id, name, status: 'PROVISIONING' }, 201);
  };
  const ended = await Promise.all(
    Array.from({ length: RACERS }, (_, at) =>
      computer.gpucloud(['instances', 'create', `box-${at}`, ...HARDWARE], {
        env: { ...env(), GPUCLOUD_PROFILE: 'work' },
      }),
    ),
  );
  expect(posts()).toBe(2);
  expect(ended.map(({ code }) => code).sort()).toEqual([0, 0, 2]);
});
