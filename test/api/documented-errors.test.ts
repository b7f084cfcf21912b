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

interface Row {
  readonly http: number;
  readonly operation: string;
  readonly condition: string;
  readonly argv: readonly string[];
  readonly answer: Answer;
  /** The status that a later GET /instances/{id} returns. */
  readonly state?: string;
  readonly code: number;
  readonly next: string;
}

/** Copies the error table of the API document, with one row per condition. */
const ROWS: readonly Row[] = [
  ...(
    [
      ['ACTIVE', `gpucloud instances get ${ID}`],
      ['STOPPING', `gpucloud instances wait ${ID} --for stopped`],
      ['TERMINATED', `gpucloud instances reorder ${ID} NEW-NAME`],
      ['ERROR', `gpucloud instances events ${ID}`],
      ['PROVISIONING', `gpucloud instances wait ${ID}`],
      ['STOPPED', 'gpucloud billing balance'],
    ] as const
  ).map(([state, next]) => ({
    http: 400,
    operation: 'start instance',
    condition: `runs already, is not STOPPED, or no funds: it is ${state}`,
    argv: ['instances', 'start', ID],
    answer: shapeA(400, 'Bad Request'),
    state,
    code: 5,
    next,
  })),
  {
    http: 409,
    operation: 'start instance',
    condition: 'balance insufficient for the next hour',
    argv: ['instances', 'start', ID],
    answer: shapeA(409, 'Conflict'),
    state: 'STOPPED',
    code: 5,
    next: 'gpucloud billing balance',
  },
  {
    http: 500,
    operation: 'start instance',
    condition: 'the provider could not process the start',
    argv: ['instances', 'start', ID],
    answer: shapeA(500, 'Internal Server Error'),
    state: 'STOPPED',
    code: 1,
    next: `gpucloud instances start ${ID}`,
  },
  {
    http: 400,
    operation: 'stop instance',
    // lifecycle.test.ts covers a stop while STOPPING, which succeeds.
    condition: 'not ACTIVE',
    argv: ['instances', 'stop', ID],
    answer: shapeA(400, 'Bad Request'),
    state: 'PROVISIONING',
    code: 5,
    next: `gpucloud instances wait ${ID}`,
  },
  {
    http: 500,
    operation: 'stop instance',
    condition: 'the provider could not stop; ACTIVE again',
    argv: ['instances', 'stop', ID],
    answer: shapeA(500, 'Internal Server Error'),
    state: 'ACTIVE',
    code: 1,
    next: `gpucloud instances stop ${ID}`,
  },
  {
    http: 400,
    operation: 'terminate instance',
    // The document's only reason for this 400 is an instance that is already terminating, which
    // counts as success.
    condition: 'terminated or terminating already, and yet it is ACTIVE',
    argv: ['instances', 'terminate', ID, '-y'],
    answer: shapeA(400, 'Bad Request'),
    state: 'ACTIVE',
    code: 5,
    next: `gpucloud instances terminate ${ID}`,
  },
  {
    http: 500,
    operation: 'terminate instance',
    condition: 'provider error; rolled back',
    argv: ['instances', 'terminate', ID, '-y'],
    answer: shapeA(500, 'Internal Server Error'),
    state: 'ACTIVE',
    code: 1,
    next: `gpucloud instances terminate ${ID}`,
  },
  {
    http: 404,
    operation: 'get instance',
    condition: 'not found',
    argv: ['instances', 'get', ID],
    answer: shapeA(404, 'Not Found'),
    code: 3,
    next: 'gpucloud instances list --all',
  },
  {
    http: 404,
    operation: 'list events',
    condition: 'not found',
    argv: ['instances', 'events', ID],
    answer: shapeA(404, 'Not Found'),
    code: 3,
    next: 'gpucloud instances list --all',
  },
  {
    http: 400,
    operation: 'activate promo',
    condition: 'expired, exhausted, or activated before',
    argv: ['billing', 'promo', 'CODE'],
    answer: shapeA(400, 'Bad Request'),
    code: 1,
    next: 'gpucloud billing transactions --type bonus',
  },
  {
    http: 404,
    operation: 'activate promo',
    condition: 'no such code',
    argv: ['billing', 'promo', 'CODE'],
    answer: shapeA(404, 'Not Found'),
    code: 3,
    next: 'gpucloud billing promo CODE',
  },
  {
    http: 404,
    operation: 'delete SSH key',
    condition: 'no key with this id',
    argv: ['ssh-keys', 'delete', KEY, '-y'],
    answer: SHAPE_B,
    code: 3,
    next: 'gpucloud ssh-keys list',
  },
];

/** Returns the row's error to its operation, and the row's data to other reads. */
function serviceOf({ answer, state, operation }: Row): Handler {
  return ({ method, path }) => {
    if (method === 'GET' && path === '/ssh-keys') {
      const key = { id: KEY, name: 'laptop', public_key: 'ssh-ed25519 AAAA', fingerprint: 'x' };
      return ok([key]);
    }
    const isReading = method === 'GET' && path === `/instances/${ID}`;
    if (isReading && operation !== 'get instance') {
      const data = { id: ID, name: 'box', status: state ?? 'ACTIVE' };
      return ok(data);
    }
    return answer;
  };
}

describe('a documented error', () => {
  test.each(ROWS)('maps $http $operation to its exit code and hint: $condition', async (row) => {
    const one = await world(serviceOf(row));
    const { code, stdout, stderr } = await one.cli([...row.argv, '--json']);
    const { error } = JSON.parse(stderr);
    expect({ code, http_status: error.http_status }).toEqual({
      code: row.code,
      http_status: row.http,
    });
    expect(error.hint).toContain(row.next);
    expect(stdout.trim() === '' || stdout.trim() === '[]').toBe(true);
    // In text output, the hint has its own line.
    const told = await one.cli(row.argv);
    expect(told.stderr).toMatch(/^error: .*\nhint: .*\n$/m);
  });
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
