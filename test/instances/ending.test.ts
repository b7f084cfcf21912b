import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { type Answer, no, ok } from '../support/service.ts';
import { errorOf } from '../support/stderr-lines.ts';

const ID = '11111111-1111-4111-8111-111111111111';
const TERMINATE = ['instances', 'terminate', ID, '-y', '--json'];
const PAUSES = [2_000, 10_000, 30_000];

let world: World;

type Scripted = Answer | 'hangUp';

/** Responds to the requests and reads in turn; the last response of each repeats. */
async function scripted(posts: readonly Scripted[], reads: readonly Scripted[]): Promise<void> {
  const left = { POST: [...posts], GET: [...reads] };
  world = await createWorld({
    handler({ method, path }) {
      if (path === '/storage/drives') return ok([]);
      const answers = left[method as 'POST' | 'GET'];
      const [first = no(500, 'unscripted')] = answers;
      if (answers.length > 1) answers.shift();
      return first;
    },
  });
}

async function terminate(argv = TERMINATE) {
  const { code, stdout, stderr, requests } = await world.cli(argv);
  return {
    code,
    stdout,
    stderr,
    posts: requests.filter(({ method }) => method === 'POST').length,
    pauses: world.clock.slept.filter((pause) => pause >= 1_000),
  };
}

const ACCEPTED = ok({ status: 'TERMINATING' });
const ACTIVE = ok({ id: ID, name: 'box', status: 'ACTIVE' });
const ENDING = ok({ id: ID, name: 'box', status: 'TERMINATING' });
const GONE = no(404, 'Instance not found');
/** A 404 of a proxy, not of the service. */
const PAGE = { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>Not here</h1>' };
const FAILED = no(500, 'Provider error');
const ALREADY = no(400, 'Instance is terminating');
const busy = (seconds: number, status: number) => ({
  ...no(status, 'busy'),
  headers: { 'retry-after': String(seconds) },
});
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

interface Row {
  readonly what: string;
  readonly posts: readonly Scripted[];
  readonly reads: readonly Scripted[];
  readonly code: number;
  readonly sent: number;
  readonly pauses?: readonly number[];
  readonly error?: object;
}

const ENDED: readonly Row[] = [
  { what: 'an accepted request', posts: [ACCEPTED], reads: [ENDING], code: 0, sent: 1 },
  {
    what: 'the second request after a rollback',
    posts: [ACCEPTED],
    reads: [ACTIVE, ENDING],
    code: 0,
    sent: 2,
    pauses: [2_000],
  },
  {
    what: 'the fourth request after three rollbacks',
    posts: [ACCEPTED],
    reads: [...times(3, ACTIVE), ENDING],
    code: 0,
    sent: 4,
    pauses: PAUSES,
  },
  {
    what: 'an accepted request whose status changes late',
    posts: [ACCEPTED, ALREADY],
    reads: [ACTIVE, ACTIVE, ENDING],
    code: 0,
    sent: 3,
    pauses: [2_000, 10_000],
  },
  {
    what: 'the old status in an accepted response',
    posts: [ok({ status: 'ACTIVE' })],
    reads: [ENDING],
    code: 0,
    sent: 1,
  },
  { what: 'a lost response', posts: ['hangUp'], reads: [ENDING], code: 0, sent: 1 },
  {
    what: 'a 500',
    posts: [FAILED, ACCEPTED],
    reads: [ACTIVE, ENDING],
    code: 0,
    sent: 2,
    pauses: [2_000],
  },
  {
    what: 'a 409',
    posts: [no(409, 'busy'), ACCEPTED],
    reads: [ACTIVE, ENDING],
    code: 0,
    sent: 2,
    pauses: [2_000],
  },
  {
    what: 'a 429 with Retry-After',
    posts: [busy(15, 429), ACCEPTED],
    reads: [ENDING],
    code: 0,
    sent: 2,
    pauses: [15_000],
  },
  {
    what: 'a 503 with Retry-After',
    posts: [busy(15, 503), ACCEPTED],
    reads: [ACTIVE, ENDING],
    code: 0,
    sent: 2,
    pauses: [15_000],
  },
  { what: 'a 404 after an accepted request', posts: [ACCEPTED], reads: [GONE], code: 0, sent: 1 },
  { what: 'a 404 after a lost response', posts: ['hangUp'], reads: [GONE], code: 0, sent: 1 },
  {
    what: 'a 404 to the second request',
    posts: ['hangUp', GONE],
    reads: [ACTIVE],
    code: 0,
    sent: 2,
    pauses: [2_000],
  },
];

const UNCERTAIN: readonly Row[] = [
  {
    what: 'an accepted request that nobody can read back',
    posts: [ACCEPTED],
    reads: [FAILED],
    code: 7,
    sent: 1,
    pauses: PAUSES,
    error: { message: expect.stringContaining('accepted the request, but no read confirmed it') },
  },
  {
    what: 'an accepted request that the key may not read back',
    posts: [ACCEPTED],
    reads: [no(403, 'Forbidden')],
    code: 7,
    sent: 1,
  },
  {
    what: 'four rollbacks',
    posts: [ACCEPTED],
    reads: [ACTIVE],
    code: 7,
    sent: 4,
    pauses: PAUSES,
    error: { message: expect.stringContaining('but its status is ACTIVE. It may still be') },
  },
  {
    what: 'four lost responses',
    posts: ['hangUp'],
    reads: [ACTIVE],
    code: 7,
    sent: 4,
    pauses: PAUSES,
    error: { message: expect.stringContaining('Its status is ACTIVE. It may still be billing.') },
  },
  {
    what: 'a rollback and three refusals',
    posts: [ACCEPTED, no(409, 'busy')],
    reads: [ACTIVE],
    code: 7,
    sent: 4,
    pauses: PAUSES,
  },
  {
    what: 'a rollback that is read late',
    posts: [ACCEPTED],
    // Each read is tried three times.
    reads: [...times(3, FAILED), ACTIVE],
    code: 7,
    sent: 3,
    pauses: PAUSES,
  },
  ...[PAGE, 'hangUp' as const].map((second) => ({
    what: `a lost response and a 404 page of a proxy to ${second === PAGE ? 'all' : 'each read'}`,
    posts: ['hangUp' as const, second],
    reads: [PAGE],
    code: 7,
    sent: 4,
    pauses: PAUSES,
  })),
  {
    what: 'the old status in an accepted response that nobody can read back',
    posts: [ok({ status: 'ACTIVE' })],
    reads: [FAILED],
    code: 7,
    sent: 4,
    pauses: PAUSES,
  },
  {
    what: 'a refusal of the key after a lost response',
    posts: ['hangUp', no(403, 'Forbidden')],
    reads: [ACTIVE],
    code: 7,
    sent: 2,
    pauses: [2_000],
  },
  {
    what: 'refusals that nobody can read back',
    posts: [no(409, 'busy')],
    reads: [FAILED],
    code: 7,
    sent: 4,
    pauses: PAUSES,
  },
];

const REFUSED: readonly Row[] = [
  {
    what: 'four 500s',
    posts: [FAILED],
    reads: [ACTIVE],
    code: 1,
    sent: 4,
    pauses: PAUSES,
    error: { http_status: 500, retryable: true },
  },
  {
    what: 'four 409s',
    posts: [no(409, 'busy')],
    reads: [ACTIVE],
    code: 5,
    sent: 4,
    pauses: PAUSES,
    error: { http_status: 409 },
  },
  {
    what: 'four 429s',
    posts: [no(429, 'slow down')],
    reads: [ACTIVE],
    code: 11,
    sent: 4,
    pauses: PAUSES,
  },
  {
    what: 'four 400s for an instance that the service does not find',
    posts: [no(400, 'Not an ID')],
    reads: [GONE],
    code: 5,
    sent: 4,
    pauses: PAUSES,
    error: { http_status: 400 },
  },
  {
    what: 'a 429 with a Retry-After past --timeout',
    posts: [busy(600, 429)],
    reads: [ACTIVE],
    code: 11,
    sent: 1,
    error: { message: expect.stringContaining('600 s') },
  },
  {
    what: 'a 503 with a Retry-After past --timeout',
    posts: [busy(600, 503)],
    reads: [ACTIVE],
    code: 11,
    sent: 1,
    error: { message: expect.stringContaining('600 s') },
  },
  ...([401, 403] as const).map((status) => ({
    what: `a ${status}`,
    posts: [no(status, 'no')],
    reads: [ACTIVE],
    code: 4,
    sent: 1,
  })),
];

describe('the ending of an instance', () => {
  test.each(ENDED)('counts $what as the end', async ({ posts, reads, code, sent, pauses = [] }) => {
    await scripted(posts, reads);
    const result = await terminate();
    expect(result, result.stderr).toMatchObject({ code, posts: sent, pauses });
    expect(JSON.parse(result.stdout)).toMatchObject({
      id: ID,
      status: expect.stringMatching(/^TERMINAT(ING|ED)$/),
    });
  });

  test.each([...UNCERTAIN, ...REFUSED])(
    'exits with $code and the ID after $what',
    async ({ posts, reads, code, sent, pauses = [], error = {} }) => {
      await scripted(posts, reads);
      const result = await terminate();
      expect(result, result.stderr).toMatchObject({ code, posts: sent, pauses, stdout: '' });
      expect(errorOf(result.stderr)).toMatchObject({
        resource: ID,
        may_be_billing: true,
        ...error,
      });
    },
  );

  test('exits with 3 for an unknown instance, after one request', async () => {
    await scripted([GONE], [GONE]);
    expect(await terminate()).toMatchObject({ code: 3, posts: 1, pauses: [] });
  });

  test('exits with 6 if the service is not reachable', async () => {
    await scripted([], []);
    await world.service.close();
    const { code, pauses } = await terminate();
    expect({ code, pauses }).toEqual({ code: 6, pauses: PAUSES });
  });

  test('does not archive an instance that runs again, but only one that has ended', async () => {
    await scripted([ok({ status: 'TERMINATED' })], [ACTIVE]);
    await world.cli(['instances', 'track', ID]);
    expect((await terminate()).code).toBe(7);
    const { stdout } = await world.cli(['instances', 'list', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([{ id: ID, status: 'ACTIVE' }]);
  });

  test('prints to people what it repeats, and when', async () => {
    await scripted([FAILED, ACCEPTED], [ACTIVE, ACTIVE, ENDING]);
    const { stderr } = await terminate(TERMINATE.filter((word) => word !== '--json'));
    expect(stderr).toBe(
      `The service failed to terminate instance ${ID} (500): Provider error. Its status is ACTIVE. Trying again in 2 s.\n` +
        'The service accepted the request, but its status is ACTIVE. Trying again in 10 s.\n',
    );
  });

  test('sends all requests before it reads or repeats any', async () => {
    const other = ID.replaceAll('1', '2');
    const sent: string[] = [];
    world = await createWorld({
      handler({ method, path }) {
        const id = path.split('/')[2] ?? '';
        sent.push(`${method} ${id === ID ? 'first' : 'second'}`);
        if (method === 'POST') return ACCEPTED;
        const isEnded = id === other || sent.filter((one) => one === 'POST first').length > 1;
        return ok({ id, status: isEnded ? 'TERMINATING' : 'ACTIVE' });
      },
    });
    const { code } = await world.cli(['instances', 'terminate', ID, other, '-y']);
    expect({ code, sent }).toEqual({
      code: 0,
      sent: [
        ...['POST first', 'POST second', 'GET first', 'GET second'],
        ...['POST first', 'GET first'],
      ],
    });
  });

  describe('Ctrl-C', () => {
    /** Interrupts at the first request with that method, or in the first pause. */
    async function interruptedAt(at: 'POST' | 'GET' | 'pause', isReachable = true) {
      const first = new AbortController();
      const press = () => first.abort(new CliError('interrupted', 'Interrupted.'));
      world = await createWorld({
        handler({ method }) {
          if (method === at) press();
          return method === 'POST' ? no(409, 'busy') : ACTIVE;
        },
      });
      const { sleep } = world.clock;
      world.clock.sleep = (milliseconds, signal) => {
        if (at === 'pause' && milliseconds === 2_000) press();
        return sleep(milliseconds, signal);
      };
      if (!isReachable) await world.service.close();
      const interrupts = { first: first.signal, second: new AbortController().signal };
      const { code, stderr } = await world.cli(TERMINATE, { interrupts });
      return { code, error: errorOf(stderr) };
    }

    test.each(['POST', 'GET', 'pause'] as const)(
      'exits with 7 if interrupted at the %s after sending',
      async (at) => {
        expect(await interruptedAt(at)).toMatchObject({
          code: 7,
          error: { resource: ID, may_be_billing: true },
        });
      },
    );

    test('exits with 130 if interrupted in the pause before anything was sent', async () => {
      expect(await interruptedAt('pause', false)).toMatchObject({
        code: 130,
        error: { resource: ID, message: expect.stringContaining('nothing was sent') },
      });
    });
  });
});
