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

type Scripts = readonly Scripted[];
type Row = [what: string, posts: Scripts, reads: Scripts, sent: number, pauses?: readonly number[]];

const BUSY = no(409, 'busy');
const PAUSE = [2_000];

const ENDED: readonly Row[] = [
  ['an accepted request', [ACCEPTED], [ENDING], 1],
  ['the second request after a rollback', [ACCEPTED], [ACTIVE, ENDING], 2, PAUSE],
  ['the fourth after three rollbacks', [ACCEPTED], [...times(3, ACTIVE), ENDING], 4, PAUSES],
  ['a late change', [ACCEPTED, ALREADY], [ACTIVE, ACTIVE, ENDING], 3, [2_000, 10_000]],
  ['the old status in an accepted response', [ok({ status: 'ACTIVE' })], [ENDING], 1],
  ['a lost response', ['hangUp'], [ENDING], 1],
  ['a 500', [FAILED, ACCEPTED], [ACTIVE, ENDING], 2, PAUSE],
  ['a 409', [BUSY, ACCEPTED], [ACTIVE, ENDING], 2, PAUSE],
  ['a 429 with Retry-After', [busy(15, 429), ACCEPTED], [ENDING], 2, [15_000]],
  ['a 503 with Retry-After', [busy(15, 503), ACCEPTED], [ACTIVE, ENDING], 2, [15_000]],
  ['a 404 after an accepted request', [ACCEPTED], [GONE], 1],
  ['a 404 after a lost response', ['hangUp'], [GONE], 1],
  ['a 404 to the second request', ['hangUp', GONE], [ACTIVE], 2, PAUSE],
  ['a 500 that took effect', [FAILED], [ENDING], 1],
  ['a 404 after a 500', [FAILED], [GONE], 1],
  ['a 404 to the request after a 500', [FAILED, GONE], [ACTIVE], 2, PAUSE],
  ['a 429 with a pause of --timeout', [busy(60, 429), ACCEPTED], [ENDING], 2, [60_000]],
];

const OLD = ok({ status: 'ACTIVE' });
const DENIED = no(403, 'Forbidden');

type Failed = [
  ...[code: number, what: string, posts: Scripts, reads: Scripts, sent: number],
  pauses?: readonly number[],
];

const FAILS: readonly Failed[] = [
  [7, 'an accepted request that nobody can read back', [ACCEPTED], [FAILED], 1, PAUSES],
  [7, 'an accepted request that the key may not read back', [ACCEPTED], [DENIED], 1],
  [7, 'four rollbacks', [ACCEPTED], [ACTIVE], 4, PAUSES],
  [7, 'four lost responses', ['hangUp'], [ACTIVE], 4, PAUSES],
  [7, 'a rollback and three refusals', [ACCEPTED, BUSY], [ACTIVE], 4, PAUSES],
  // Each read is tried three times.
  [7, 'a rollback that is read late', [ACCEPTED], [...times(3, FAILED), ACTIVE], 3, PAUSES],
  [7, "a lost response and a proxy's 404 page to all", ['hangUp', PAGE], [PAGE], 4, PAUSES],
  [7, "lost responses and a proxy's 404 page to each read", ['hangUp'], [PAGE], 4, PAUSES],
  [7, 'the old status in a response that nobody can read back', [OLD], [FAILED], 4, PAUSES],
  [7, 'a refusal of the key after a lost response', ['hangUp', DENIED], [ACTIVE], 2, PAUSE],
  [7, 'refusals that nobody can read back', [BUSY], [FAILED], 4, PAUSES],
  [1, 'four 500s', [FAILED], [ACTIVE], 4, PAUSES],
  [5, 'four 409s', [BUSY], [ACTIVE], 4, PAUSES],
  [11, 'four 429s', [no(429, 'slow down')], [ACTIVE], 4, PAUSES],
  [5, 'four 400s for a missing instance', [no(400, 'No')], [GONE], 4, PAUSES],
  [11, 'a 429 with a pause past --timeout', [busy(600, 429)], [ACTIVE], 1, []],
  [11, 'a 503 with a pause past --timeout', [busy(600, 503)], [ACTIVE], 1, []],
  [4, 'a 401', [no(401, 'no')], [ACTIVE], 1],
  [4, 'a 403', [DENIED], [ACTIVE], 1],
];

describe('the ending of an instance', () => {
  test.each(ENDED)('counts %s as the end', async (_what, posts, reads, sent, pauses = []) => {
    await scripted(posts, reads);
    const result = await terminate();
    expect(result, result.stderr).toMatchObject({ code: 0, posts: sent, pauses });
  });

  test.each(FAILS)(
    'exits with %i and the ID after %s',
    async (code, _what, posts, reads, sent, pauses = []) => {
      await scripted(posts, reads);
      const result = await terminate();
      expect(result, result.stderr).toMatchObject({ code, posts: sent, pauses, stdout: '' });
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
    await world.cli(['instances', 'list', '--json']);
  });

  test('prints to people what it repeats, and when', async () => {
    await scripted([FAILED, ACCEPTED], [ACTIVE, ACTIVE, ENDING]);
    await terminate(TERMINATE.filter((word) => word !== '--json'));
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
    /** Interrupts at the first request with that method, in the first pause, or right after it. */
    async function interruptedAt(at: 'POST' | 'GET' | 'pause' | 'resume', isReachable = true) {
      const first = new AbortController();
      const press = () => first.abort(new CliError('interrupted', 'Interrupted.'));
      world = await createWorld({
        handler({ method }) {
          if (method === at) press();
          return method === 'POST' ? no(409, 'busy') : ACTIVE;
        },
      });
      const { sleep } = world.clock;
      world.clock.sleep = async (milliseconds, signal) => {
        if (at === 'pause' && milliseconds === 2_000) press();
        await sleep(milliseconds, signal);
        if (at === 'resume') press();
      };
      if (!isReachable) await world.service.close();
      const interrupts = { first: first.signal, second: new AbortController().signal };
      const { code, stderr } = await world.cli(TERMINATE, { interrupts });
      return { code, error: errorOf(stderr) };
    }

    test.each(['POST', 'GET', 'pause', 'resume'] as const)(
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
