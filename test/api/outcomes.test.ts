import { expect, onTestFinished, test, vi } from 'vitest';
import type { Api, CallOptions, RawRequest } from '../../src/api/index.ts';
import { CliError } from '../../src/errors.ts';
import {
  apiFor,
  CREATE,
  cut,
  data,
  fakeClock,
  ID,
  json,
  type Step,
  scripted,
  status,
  wholeOf,
} from './harness.ts';

// Compares whole outcomes: what each operation sends and says, and what each response leads to.

type Send = (api: Api, options: CallOptions) => Promise<unknown>;

const DRIVE = { name: 'data', size_gb: 40 };
const OPERATIONS: Readonly<Record<string, Send>> = {
  create: (api, options) => api.instances.create(CREATE, options),
  reorder: (api, options) => api.instances.reorder(ID, { new_name: 'two' }, options),
  get: (api, options) => api.instances.get(ID, options),
  start: (api, options) => api.instances.start(ID, options),
  stop: (api, options) => api.instances.stop(ID, options),
  terminate: (api, options) => api.instances.terminate(ID, options),
  events: (api, options) => api.instances.events(ID, { page: 2, limit: 5 }, options),
  drives: (api, options) => api.drives.list(options),
  drive: (api, options) => api.drives.get('drive-1', options),
  'create drive': (api, options) => api.drives.create(DRIVE, options),
  'update drive': (api, options) => api.drives.update('drive-1', DRIVE, options),
  'resume drive': (api, options) => api.drives.resume('drive-1', options),
  'SSH keys': (api, options) => api.sshKeys.list(options),
  'add SSH key': (api, options) => api.sshKeys.add({ name: 'k', public_key: 'ssh' }, options),
  'delete SSH key': (api, options) => api.sshKeys.delete('key-1', options),
  'API keys': (api, options) => api.apiKeys.list(options),
  'create API key': (api, options) => api.apiKeys.create({ name: 'ci' }, options),
  templates: (api, options) => api.templates.list(options),
  me: (api, options) => api.users.me(options),
  'update me': (api, options) => api.users.update({ name: 'Ann' }, options),
  'set password': (api, options) =>
    api.users.setPassword({ current_password: 'aaaaaa', new_password: 'bbbbbb' }, options),
  promo: (api, options) => api.billing.activatePromo({ code: 'SPRING' }, options),
  transactions: (api, options) =>
    api.billing.transactions({ type: ['BONUS', 'CHARGE'], page: 3 }, options),
};

/** Starts a server, and returns a function that describes the outcome of one call in one line. */
async function calls() {
  let steps: Step[] = [];
  const noted: unknown[] = [];
  const next: Step = (...given) => (steps.shift() ?? status(599))(...given);
  const server = await scripted(...Array<Step>(200).fill(next));
  const clock = fakeClock();
  const keyRemedy = (code: number) => `remedy of ${code}`;
  const warn = (line: string) => void noted.push(line);
  const api = apiFor(server.url, { clock, keyRemedy, warn });
  const outcomeOf = async (send: Send, answers: readonly Step[], options: CallOptions = {}) => {
    steps = [...answers];
    noted.length = 0;
    clock.sleeps.length = 0;
    const outcome = await send(api, {
      onSending: () => void noted.push('sending'),
      onResponse: async ({ status, cut }) => void noted.push(`${status}${cut ? ' cut' : ''}`),
      ...options,
    }).then((value) => `returned ${JSON.stringify(value)}`, wholeOf);
    return [...noted, ...clock.sleeps, outcome].join(' ').replaceAll(ID, 'ID');
  };
  return { server, outcomeOf };
}

test.each(Object.entries(OPERATIONS))('sends and reports: %s', async (_name, send) => {
  const { server, outcomeOf } = await calls();
  const lines: string[] = [];
  for (const steps of [[status(400)], [status(404)], [cut, cut, cut]]) {
    lines.push(await outcomeOf(send, steps));
  }
  const sent = server.seen.map(
    ({ body, headers }) => `${body} ${headers['content-type'] ?? ''} ${headers.connection}`,
  );
  const each = [...new Set([...server.calls(), ...sent, ...lines])].join('\n');
  expect(`\n${each}\n`.replaceAll(ID, 'ID')).toMatchSnapshot();
});

const page =
  (code: number, headers: Record<string, string> = {}): Step =>
  (_request, response) => {
    response.writeHead(code, { 'content-type': 'text/html', ...headers });
    response.end('<html><title>Sign in</title>');
  };
const part =
  (code: number): Step =>
  (_request, response) => {
    response.writeHead(code, { 'content-length': 900 });
    response.write('{"message":"half', () => response.destroy());
  };
const instance = data({ id: ID, name: 7, status: 'ACTIVE', secret: { deep: 1 } });
const other = data({ id: `f${ID.slice(1)}`, status: 'ACTIVE' });

/** The last response repeats. */
const RESPONSES: Readonly<Record<string, readonly [Step, ...Step[]]>> = {
  instance: [instance],
  'another instance': [other],
  'no data': [json(200, { status: 'success' })],
  'a page': [page(200)],
  'half a 200': [part(200)],
  'half a 422': [part(422)],
  'half a 500': [part(500)],
  401: [status(401)],
  402: [status(402)],
  403: [status(403)],
  408: [status(408)],
  409: [status(409)],
  '409 page': [page(409)],
  422: [json(422, { message: ['a is bad', 'b too'] })],
  429: [status(429, { 'retry-after': '3' })],
  '429 too long': [status(429, { 'retry-after': '21' })],
  500: [status(500)],
  503: [status(503, { 'retry-after': '3' })],
  '503 too long': [status(503, { 'retry-after': '7200' })],
  '502 page': [page(502, { 'retry-after': '3' })],
  'redirect to a host': [status(307, { location: 'https://elsewhere.example:8443/x?key=1' })],
  'redirect to a path': [status(302, { location: '/elsewhere' })],
  'redirect to nothing': [status(304)],
  'cut, then 401': [cut, status(401)],
  'cut, then 404': [cut, status(404)],
  'cut, then 503 too long': [cut, status(503, { 'retry-after': '7200' })],
  '429, then 404': [status(429), status(404)],
  '503, then an instance': [status(503), instance],
  'cut, then a redirect': [cut, status(307, { location: '/elsewhere' })],
};

const raw =
  (request: RawRequest): Send =>
  async (api, options) => {
    const { failure, status, text, cut } = await api.call(request, options);
    return [status, text.length, cut, failure && wholeOf(failure)];
  };

test.each<[string, Send]>([
  ...['get', 'create', 'stop', 'update drive', 'delete SSH key'].map((name): [string, Send] => [
    name,
    OPERATIONS[name] as Send,
  ]),
  ['GET', raw({ method: 'GET', path: '/x' })],
  ['POST', raw({ method: 'POST', path: '/instances/i/stop/' })],
  ['DELETE', raw({ method: 'DELETE', path: '/x?y' })],
])('maps each response to %s', async (_name, send) => {
  const { outcomeOf } = await calls();
  const lines: string[] = [];
  for (const [name, steps] of Object.entries(RESPONSES)) {
    const repeated = [...steps, ...Array<Step>(3).fill(steps.at(-1) ?? cut)];
    lines.push(`${name}: ${await outcomeOf(send, repeated, { longestPauseMs: 60_000 })}`);
  }
  expect(`\n${lines.join('\n')}\n`).toMatchSnapshot();
});

const INTERRUPT = new CliError('terminated', 'Terminated.');

test.each<[string, (stop: AbortController) => [Step, CallOptions]]>([
  ['the deadline', () => [() => void vi.advanceTimersByTime(1500), { timeoutMs: 1500 }]],
  ['an interrupt', (stop) => [() => stop.abort(INTERRUPT), { signal: stop.signal }]],
])('reports the end of a call by %s', async (_name, make) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { outcomeOf } = await calls();
  const lines: string[] = [];
  for (const name of ['get', 'create', 'update drive']) {
    const [step, options] = make(new AbortController());
    lines.push(`${name}: ${await outcomeOf(OPERATIONS[name] as Send, [step], options)}`);
  }
  expect(`\n${lines.join('\n')}\n`).toMatchSnapshot();
});
