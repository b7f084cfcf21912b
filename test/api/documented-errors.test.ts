import { describe, expect, test } from 'vitest';
import { createWorld, type World } from '../support/run-cli.ts';
import type { Answer, Handler } from '../support/service.ts';
import { ok } from '../support/service.ts';

const ID = '11111111-1111-4111-8111-111111111111';
const KEY = '22222222-2222-4222-8222-222222222222';

async function world(handler: Handler): Promise<World> {
  return createWorld({ handler });
}

/** Returns an error in shape A of the API document. Clients must not interpret its message. */
function shapeA(status: number, error: string): Answer {
  return { status, body: { statusCode: status, message: 'a reason', error } };
}

const SHAPE_B: Answer = {
  status: 404,
  body: { statusCode: 404, code: 'NOT_FOUND', message: 'a reason' },
};

type Row = [
  ...[http: number, operation: string, condition: string, argv: readonly string[]],
  ...[code: number, next: string, state?: string],
];

const START = ['instances', 'start', ID];
const STOP = ['instances', 'stop', ID];
const END = ['instances', 'terminate', ID, '-y'];
const PROMO = ['billing', 'promo', 'CODE'];
const command = (words: string) => `gpucloud instances ${words}`;

/**
 * Copies the error table of the API document, with one row per condition. A later GET
 * /instances/{id} returns the state.
 */
const ROWS: readonly Row[] = [
  [400, 'start', 'runs already', START, 5, command(`get ${ID}`), 'ACTIVE'],
  [400, 'start', 'not STOPPED', START, 5, command(`wait ${ID} --for stopped`), 'STOPPING'],
  [400, 'start', 'not STOPPED', START, 5, command(`reorder ${ID} NEW-NAME`), 'TERMINATED'],
  [400, 'start', 'not STOPPED', START, 5, command(`events ${ID}`), 'ERROR'],
  [400, 'start', 'not STOPPED', START, 5, command(`wait ${ID}`), 'PROVISIONING'],
  [400, 'start', 'no funds', START, 5, 'gpucloud billing balance', 'STOPPED'],
  [409, 'start', 'too low a balance', START, 5, 'gpucloud billing balance', 'STOPPED'],
  [500, 'start', 'the provider could not start it', START, 1, command(`start ${ID}`), 'STOPPED'],
  // lifecycle.test.ts covers a stop while STOPPING, which succeeds.
  [400, 'stop', 'not ACTIVE', STOP, 5, command(`wait ${ID}`), 'PROVISIONING'],
  [500, 'stop', 'the provider could not stop it', STOP, 1, command(`stop ${ID}`), 'ACTIVE'],
  // The document's only reason for this 400 is an instance that is already terminating, which
  // counts as success.
  [400, 'terminate', 'still ACTIVE', END, 5, command(`terminate ${ID}`), 'ACTIVE'],
  [500, 'terminate', 'rolled back', END, 1, command(`terminate ${ID}`), 'ACTIVE'],
  [404, 'get', 'not found', ['instances', 'get', ID], 3, command('list --all')],
  [404, 'events', 'not found', ['instances', 'events', ID], 3, command('list --all')],
  [400, 'promo', 'expired or used', PROMO, 1, 'gpucloud billing transactions --type bonus'],
  [404, 'promo', 'no such code', PROMO, 3, 'gpucloud billing promo CODE'],
  [
    404,
    'delete SSH key',
    'no such key',
    ['ssh-keys', 'delete', KEY, '-y'],
    3,
    'gpucloud ssh-keys list',
  ],
];

/** Returns the row's error to its operation, and the row's data to other reads. */
function serviceOf([http, operation, , , , , state = 'ACTIVE']: Row): Handler {
  return ({ method, path }) => {
    if (method === 'GET' && path === '/ssh-keys') {
      const key = { id: KEY, name: 'laptop', public_key: 'ssh-ed25519 AAAA', fingerprint: 'x' };
      return ok([key]);
    }
    const isReading = method === 'GET' && path === `/instances/${ID}`;
    if (isReading && operation !== 'get') return ok({ id: ID, name: 'box', status: state });
    return operation === 'delete SSH key' ? SHAPE_B : shapeA(http, 'Refused');
  };
}

test.each(ROWS)('maps %i to %s to its exit code and hint: %s', async (...row) => {
  const [http, , , argv, exit, next] = row;
  const one = await world(serviceOf(row));
  const { code, stdout, stderr } = await one.cli([...argv, '--json']);
  const { error } = JSON.parse(stderr);
  expect({ code, http_status: error.http_status }).toEqual({ code: exit, http_status: http });
  expect(error.hint).toContain(next);
  expect(stdout.trim() === '' || stdout.trim() === '[]').toBe(true);
  // In text output, the hint has its own line.
  const outcome = await one.cli(argv);
  expect(outcome.stderr).toMatch(/^error: .*\nhint: .*\n$/m);
});

const UNFUNDED = `Instance ${ID} stays STOPPED: the balance does not cover the next hour.`;
const SHORT = `${UNFUNDED} The balance is 12.00 ₽; the last known price is 89.90 ₽ per hour.`;
const UNSURE = `The service refused to start instance ${ID} (400): a reason. The instance is STOPPED now. Either it was still stopping, or the balance does not cover the next hour.`;
const notStopped = (status: string) =>
  `Instance ${ID} is ${status}; only a STOPPED instance can be started.`;

test.each([
  [400, 'STOPPED', '12.00', 'insufficient_funds', true, SHORT],
  [409, 'STOPPED', '12.00', 'insufficient_funds', true, SHORT],
  [402, 'STOPPED', '100.00', 'insufficient_funds', true, UNFUNDED],
  [409, 'STOPPED', '100.00', 'insufficient_funds', true, UNFUNDED],
  [400, 'STOPPED', '100.00', 'wrong_state', true, UNSURE],
  [400, 'TERMINATED', '100.00', 'wrong_state', false, notStopped('TERMINATED')],
  [409, 'TERMINATED', '100.00', 'wrong_state', false, notStopped('TERMINATED')],
  [409, 'ACTIVE', '100.00', 'wrong_state', true, notStopped('ACTIVE')],
])(
  'gives the reason for a start refused with %i: %s, with a balance of %s',
  async (http, state, balance, reason, bills, message) => {
    const one = await world(({ method, path }) => {
      if (method === 'POST') return shapeA(http, 'Refused');
      const instance = { id: ID, status: state, price_per_hour_snapshot: '89.90' };
      return ok(path === '/users/me' ? { id: 'user-1', balance } : instance);
    });
    const { code, stderr } = await one.cli(['instances', 'start', ID, '--json']);
    const { error } = JSON.parse(stderr);
    expect({ code, error }).toMatchObject({
      code: 5,
      error: { code: reason, may_be_billing: bills, message },
    });
  },
);

test("does not blame the balance if a start returns a proxy's page", async () => {
  const one = await world(({ method }) =>
    method === 'POST'
      ? { status: 400, body: '<html><title>Proxy</title></html>' }
      : ok({ id: ID, status: 'STOPPED' }),
  );
  const { code, stderr, requests } = await one.cli(['instances', 'start', ID]);
  expect(code).toBe(1);
  expect(stderr).not.toContain('funds');
  expect(requests.at(-1)).toMatchObject({ method: 'POST' });
});

describe("a proxy's page", () => {
  const page =
    (status: number, title = 'Sign in — Corp &amp; Co\u202e'): Handler =>
    () => ({
      status,
      headers: { 'content-type': 'text/html; charset=utf-8' },
      body: `<!DOCTYPE html>\n<html><head><title> ${title}\n</title></head><body>…</body></html>`,
    });

  test.each([
    [200, 10],
    [401, 4],
    [403, 4],
    [404, 3],
    [407, 1],
    [502, 1],
  ])("reports status %i as a proxy's page, without blaming the API key", async (status, exit) => {
    const one = await world(page(status));
    const { code, stderr } = await one.cli(['me', 'get']);
    expect(code).toBe(exit);
    expect(stderr).toContain('an HTML page');
    expect(stderr).toContain('gpucloud doctor');
    expect(stderr).not.toContain('API key');
    expect(stderr).not.toContain('\u202e');
    expect(stderr).not.toContain('<');
    if (status !== 200) expect(stderr).toContain('("Sign in — Corp &amp; Co")');
  });

  test("omits a proxy page's title if it contains a key", async () => {
    const one = await world(page(502, 'svc_sk_test_0123456789abcdef'));
    const { stderr } = await one.cli(['me', 'get']);
    expect(stderr).not.toContain('0123456789abcdef');
  });
});

describe('a mistyped word', () => {
  const account: Handler = ({ path, method }) => {
    const data =
      path === '/ssh-keys'
        ? [{ id: KEY, name: 'laptop', public_key: 'ssh-ed25519 AAAA' }]
        : path === '/templates'
          ? [{ id: KEY, slug: 'jupyterlab', name: 'JupyterLab' }]
          : path === '/storage/drives'
            ? [{ id: KEY, name: 'datasets', status: 'AVAILABLE' }]
            : { id: ID, name: 'trainer', status: 'ACTIVE' };
    return ok(data, method === 'POST' ? 201 : 200);
  };
  const CREATE = ['instances', 'create', 'box', '--offer', ID, '--image', KEY];

  test.each([
    [['--profile', 'sandbx', 'me', 'get'], 2, 'did you mean sandbox?'],
    [['instances', 'stop', 'trainr'], 3, 'did you mean trainer?'],
    [['instances', 'terminate', 'trianer', '-y'], 3, 'did you mean trainer?'],
    [['ssh-keys', 'get', 'labtop'], 3, 'did you mean "laptop"?'],
    [['drives', 'get', 'dataset'], 3, 'did you mean "datasets"?'],
    [[...CREATE, '--template', 'jupiterlab'], 3, 'did you mean "jupyterlab"?'],
    [[...CREATE, '--ssh-key', 'lapto'], 3, 'did you mean "laptop"?'],
  ])('suggests the nearest known name for %j', async (argv, exit, words) => {
    const one = await world(account);
    await one.cli(['instances', 'track', ID]);
    const { code, stderr, requests } = await one.cli(argv);
    expect(stderr).toContain(words);
    expect(code).toBe(exit);
    expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});
