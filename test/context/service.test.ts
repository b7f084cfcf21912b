import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { createService } from '../../src/context/service.ts';
import type { Host } from '../../src/context.ts';
import {
  data,
  fakeClock,
  json,
  KEY,
  type Step,
  scripted,
  status,
  wholeOf,
} from '../api/harness.ts';

const USER = data({ id: 'user-1', name: 'Ann' });
const ODD = data({ id: 'user-1', name: 7 });

/** Opens the service of a host. Returns the calls of the other parts, in order. */
function serviceOf(settings: object, { host = {}, flags = {}, isKeyKnown = true } = {}) {
  const noted: unknown[] = [];
  const note =
    (what: string) =>
    (...given: unknown[]) =>
      void noted.push([what, ...given].join(' '));
  const first = new AbortController();
  const service = createService({
    host: {
      ...{ env: {}, clock: fakeClock() },
      ...{ interrupts: { first: first.signal, second: first.signal }, ...host },
    } as unknown as Host,
    flags,
    version: '1.2.3',
    settings: {
      settings: async () => ({ sandbox: false, ...settings }),
      warnOfEnv: async () => note('environment')(),
      config: async () => ({ read: async () => ({ profiles: {} }) }),
    } as never,
    err: { warn: note('warn'), debug: note('debug') } as never,
    ownKeys: { add: note('key') } as never,
    sandbox: (async () => {
      note('sandbox')();
      return {
        listen: async ({ port }: { port: number }) => {
          note('listens')(port);
          const { url } = await scripted(USER);
          return { url, apiKey: 'sandbox-key', close: async () => note('closed')() };
        },
        status: async () => ({ now: '2026-01-15T12:00:00.000Z' }),
      };
    }) as never,
    serviceClock: { learn: () => undefined, set: note('clock') } as never,
    isKeyKnown: async () => isKeyKnown,
    observe: async ({ title }) => note('observed')(title),
  });
  return { service, noted, first };
}

const configured = (url: string, account?: string) => ({
  ...{ baseUrl: { value: url, source: 'flag' }, apiKey: { value: KEY, source: 'profile' } },
  account,
});

test.each<[what: string, answers: Step[], account?: string | undefined, isKeyKnown?: boolean]>([
  ['an account that is known', [json(200, { data: [] })], 'user-1', true],
  ['no account', [json(200, { data: [] })]],
  ['another key of the account', [USER, json(200, { data: [] })], 'user-1', false],
  [
    'a service that does not say whose the key is',
    [...Array<Step>(3).fill(status(500)), json(200, { data: [] })],
    ...(['user-1', false] as const),
  ],
  ['a refused key', [status(401)], 'user-1', false],
  ['a key without rights', [status(403)], undefined, false],
  ['a response that is odd, twice', [ODD, json(200, { data: [] }), ODD], 'user-1', false],
])('asks and reports for %s', async (_what, answers, account, isKeyKnown) => {
  const server = await scripted(...answers);
  const { service, noted } = serviceOf(configured(server.url, account), { isKeyKnown });
  const api = await service.connected();
  noted.push(await api.drives.list().then((found) => JSON.stringify(found), wholeOf));
  if (answers[0] === ODD) await api.users.me();
  noted.push(`refused: ${service.isKeyRefused()}`, ...server.calls());
  noted.push([...new Set(server.seen.map(({ headers }) => headers['user-agent']))].join());
  expect(`\n${noted.join('\n')}\n`).toMatchSnapshot();
  await service.close();
});

test.each([
  ['a key', { baseUrl: { value: 'http://127.0.0.1:1', source: 'flag' } }],
  ['an address', { apiKey: { value: 'k', source: 'environment' } }],
])('connects to nothing without %s', async (_what, settings) => {
  const { service, noted } = serviceOf(settings);
  noted.push(wholeOf(await service.connected().catch((error: unknown) => error)));
  expect(`\n${noted.join('\n')}\n`).toMatchSnapshot();
});

test.each([true, false])(
  'closes the sandbox, although the process ends at once: %s',
  async (endsAtOnce) => {
    const { service, noted } = serviceOf({ sandbox: true }, { host: { endsAtOnce } });
    const api = await service.connected();
    await api.users.me();
    await service.close();
    const [now, ...rest] = [`clock ${Date.UTC(2026, 0, 15, 12)}`, 'key sandbox-key'];
    expect(noted).toEqual([
      ...['environment', 'sandbox', 'listens 0', now, ...rest],
      ...['observed GET /users/me', 'closed'],
    ]);
  },
);

test.each([
  [true, 'returned'],
  [false, 'unreachable: Could not reach the service: connection closed. No changes made.'],
])('leaves connections to the system if the process ends at once: %s', async (endsAtOnce, then) => {
  const server = await scripted(USER, USER);
  const { service } = serviceOf({}, { host: { endsAtOnce } });
  const api = await service.apiFor({ baseUrl: server.url, apiKey: KEY });
  await api.users.me();
  await service.close();
  const again = await api.users.me().then(() => 'returned', wholeOf);
  expect(again.split(' | ')[0]).toBe(then);
  await api.close();
});

test('passes the flags to each call', async () => {
  const server = await scripted(USER);
  const flags = { timeout: 1234, debug: true };
  const { service, noted, first } = serviceOf({}, { flags });
  const api = await service.apiFor({ baseUrl: server.url, apiKey: KEY });
  const asked = api.users.me({ onSending: () => noted.push(listeners()) });
  const listeners = () => `${getEventListeners(first.signal, 'abort').length} listens`;
  await asked;
  expect(noted.map((line) => String(line).replaceAll(server.url, 'URL'))).toEqual([
    `key ${KEY}`,
    ...['debug > GET URL/users/me', 'debug > accept: application/json'],
    ...['debug > accept-encoding: identity', 'debug > user-agent: gpucloud/1.2.3'],
    ...['debug > x-api-key: ********', '1 listens', 'debug < 200'],
    ...[expect.stringMatching(/^debug < content-type/), expect.stringMatching(/^debug < date/)],
    expect.stringMatching(/^debug < \{"status":"success"/),
  ]);
  await service.close();
});
