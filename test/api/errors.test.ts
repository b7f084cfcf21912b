import { describe, expect, test } from 'vitest';
import { isFailed, isRedirect, isSuccess, isSureRefusal } from '../../src/api/errors.ts';
import type { Api } from '../../src/api/index.ts';
import { apiFor, failureOf, ID, json, KEY, type Step, scripted, status } from './harness.ts';

const get = (api: Api) => api.instances.get(ID);

const CASES: [string, (api: Api) => Promise<unknown>, number, number][] = [
  ['get', get, 400, 1],
  ['get', get, 401, 4],
  ['get', get, 403, 4],
  ['get', get, 402, 5],
  ['get', get, 404, 3],
  ['get', get, 409, 5],
  ['get', get, 410, 1],
  ['get', get, 422, 1],
  ['events', (api) => api.instances.events(ID), 404, 3],
  ['stop', (api) => api.instances.stop(ID), 400, 5],
  ['stop', (api) => api.instances.stop(ID), 404, 3],
  ['terminate', (api) => api.instances.terminate(ID), 400, 5],
  ['terminate', (api) => api.instances.terminate(ID), 429, 11],
  ['start', (api) => api.instances.start(ID), 404, 3],
  ['resume', (api) => api.drives.resume('d'), 400, 5],
];

test.each(CASES)('maps %s %#: status %i to its exit code', async (_name, send, code, exit) => {
  const server = await scripted(status(code), status(code));
  const error = await failureOf(send(apiFor(server.url)));
  expect([error.exitCode, error.httpStatus]).toEqual([exit, code]);
});

test('counts each status as one kind', () => {
  const is = { success: isSuccess, redirect: isRedirect, refusal: isSureRefusal, failed: isFailed };
  const kinds = [199, 200, 299, 300, 399, 400, 408, 499, 500].map((code) =>
    Object.entries(is)
      .flatMap(([kind, test]) => (test(code) ? [kind] : []))
      .join(),
  );
  expect(kinds.join(' ').trim()).toBe(
    'success success redirect redirect refusal failed refusal failed',
  );
});

test.each([300, 304, 399])('rejects a response with status %i and any body', async (code) => {
  const server = await scripted(json(code, { data: { id: ID, status: 'ACTIVE' } }));
  expect((await failureOf(get(apiFor(server.url)))).failure).toBe('notUnderstood');
});

test.each([408, 502])(
  'reports an HTML page with status %i as a retryable failure',
  async (code) => {
    const page: Step = (_request, response) => {
      response.writeHead(code, { 'content-type': 'text/html' }).end('<html>Sorry</html>');
    };
    const server = await scripted(page, page, page);
    const error = await failureOf(get(apiFor(server.url)));
    expect(error).toMatchObject({ failure: 'refused', retryable: true });
    expect(error.message).toContain(`failed (${code})`);
  },
);

test('includes the requested resource in the error', async () => {
  const server = await scripted(status(404));
  const error = await failureOf(get(apiFor(server.url)));
  expect(error).toMatchObject({ resource: ID, request: { about: ID } });
});

test('maps an error by its status, not by its message', async () => {
  const liar = { statusCode: 404, message: 'unauthorized: not enough funds', error: 'x' };
  const server = await scripted(json(422, liar));
  expect((await failureOf(get(apiFor(server.url)))).failure).toBe('refused');
});

const PAGE = `The request to show instance ${ID} was refused (422): `;

describe("the service's message", () => {
  const raw =
    (type: string, body: string | Buffer): Step =>
    (_request, response) => {
      response.writeHead(422, type === '' ? {} : { 'content-type': type });
      response.end(body);
    };
  const messageOf = async (step: Step) => {
    const server = await scripted(step);
    const { message } = await failureOf(get(apiFor(server.url)));
    return message.replace(`The service refused to show instance ${ID} (422): `, '');
  };

  test.each<[string, Step, string]>([
    ['shape A', json(422, { statusCode: 422, message: 'bad image', error: 'X' }), 'bad image.'],
    ['shape B', json(422, { statusCode: 422, code: 'NOT_FOUND', message: 'gone' }), 'gone.'],
    ['a list', json(422, { statusCode: 422, message: ['a is bad', 'b too'] }), 'a is bad; b too.'],
    ['no message', json(422, { statusCode: 422, error: 'Bad Request' }), 'Bad Request.'],
    ['another shape', json(422, { detail: 1 }), '{"detail":1}.'],
    ['a secret', json(422, { secret_key: 'hunter2hunter2' }), '{"secret_key":"********"}.'],
    ['an array', json(422, [1, 2]), '[1,2].'],
    ['a list without texts', json(422, { message: [1], error: 'Bad' }), 'Bad.'],
    ['a JSON text', json(422, 'go away'), 'go away.'],
    ['an empty JSON text', json(422, ' '), 'no explanation given.'],
    ['null', json(422, null), 'null.'],
    ['an empty body', raw('application/json', ''), 'no explanation given.'],
    ['text', raw('text/plain', 'go away!'), 'go away!'],
    ['text without a content type', raw('', 'go on…'), 'go on…'],
    [
      'HTML',
      raw('text/html', '<h1>Bad gateway</h1>'),
      `${PAGE}an HTML page, perhaps from a proxy.`,
    ],
    ['JSON as HTML', raw('text/html', '\n{"message":"no"}'), 'no.'],
    [
      'a page that has a brace',
      raw('text/html', 'a {'),
      `${PAGE}an HTML page, perhaps from a proxy.`,
    ],
    ['a text about a page', raw('text/plain', 'no <html>'), 'no <html>.'],
    ['a blank message', json(422, { message: ' ', error: 'Bad' }), 'Bad.'],
    ['200 characters', json(422, { message: 'a'.repeat(200) }), `${'a'.repeat(200)}.`],
    [
      'HTML without a content type',
      raw('', ' <!DOCTYPE html><p>x'),
      `${PAGE}an HTML page, perhaps from a proxy.`,
    ],
    ['invalid UTF-8', raw('text/plain', Buffer.from([0xff, 0xfe])), 'the response is not UTF-8.'],
    ['the key', raw('text/plain', `no ${KEY}?`), 'no ********?'],
    ['another key', raw('text/plain', 'no svc_sk_live_abc-DEF'), 'no svc_sk_…'],
    [
      'control characters',
      json(422, { message: 'a\u001b]52;c;x\u0007b\u009b31m\u202ec\u200bd\r\n\te\u007f' }),
      'abcd e.',
    ],
  ])("finds the service's message in %s", async (_name, step, words) => {
    expect(await messageOf(step)).toBe(words);
  });

  test("truncates the service's message to 200 characters", async () => {
    const message = await messageOf(json(422, { message: '🙂'.repeat(5000) }));
    expect([...message]).toHaveLength(200);
    expect(message.endsWith('🙂…')).toBe(true);
  });

  test('hides a key that is cut off or split by control characters', async () => {
    const long = `${'x'.repeat(190)}${KEY}`;
    expect(await messageOf(json(422, { message: long }))).not.toContain('svc_sk_test');
    const split = `${KEY.slice(0, 5)}\u200b${KEY.slice(5)}`;
    expect(await messageOf(json(422, { message: split }))).toBe('********.');
    const prefixed = `${KEY.slice(0, 12)}\u200b${KEY.slice(12)}`;
    expect(await messageOf(json(422, { message: prefixed }))).not.toContain(KEY.slice(12));
  });

  test.each(['hunter2hunter2', 'two  spaces in it'])(
    "hides the password %j if the service's message repeats it",
    async (password) => {
      const server = await scripted(json(422, { message: `${password} is too weak` }));
      const error = await failureOf(
        apiFor(server.url).users.setPassword({
          current_password: 'old-password',
          new_password: password,
        }),
      );
      expect(error.message).toContain('******** is too weak');
    },
  );
});
