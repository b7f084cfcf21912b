import { describe, expect, test } from 'vitest';
import { CliError } from '../src/errors.ts';
import { retryChange, rolledBack } from '../src/retry-change.ts';
import {
  apiFor,
  cut,
  data,
  failureOf,
  fakeClock,
  ID,
  last,
  type Step,
  scripted,
  status,
} from './api/harness.ts';

// A drive's resume stands for all changes that can be repeated.

const POST = `POST /storage/drives/${ID}/resume`;
const GET = `GET /storage/drives/${ID}`;
const SUSPENDED = data({ id: ID, status: 'SUSPENDED' });
const AVAILABLE = data({ id: ID, status: 'AVAILABLE' });

async function changed(steps: readonly Step[], timeout = 20_000) {
  const server = await scripted(...steps);
  const clock = fakeClock();
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const api = apiFor(server.url, { clock, signal });
  const result = retryChange(
    {
      send: () => api.drives.resume(ID),
      async read() {
        const drive = await api.drives.get(ID);
        const { status } = drive;
        return { shown: status === 'AVAILABLE' ? drive : undefined, status: status ?? '' };
      },
    },
    { clock, signal, flags: { timeout } },
  );
  return { server, clock, interrupt, result };
}

describe.each([
  ['a cut connection', cut],
  ['408', status(408)],
  ['500', status(500)],
  ['504', status(504)],
])('a change after %s', (_what, doubt) => {
  test('succeeds without a second request if the state shows the effect', async () => {
    const { server, result } = await changed([doubt, AVAILABLE]);
    expect(await result).toMatchObject({ status: 'AVAILABLE' });
    expect(server.calls()).toEqual([POST, GET]);
  });

  test('is sent once more if the state is unchanged', async () => {
    const { server, clock, result } = await changed([doubt, SUSPENDED, AVAILABLE]);
    expect(await result).toMatchObject({ status: 'AVAILABLE' });
    expect(server.calls()).toEqual([POST, GET, POST]);
    expect(clock.sleeps).toEqual([250]);
  });

  test("has an unknown outcome if the state can't be read", async () => {
    const { server, result } = await changed([doubt, cut, cut, cut]);
    expect(await failureOf(result)).toMatchObject({
      failure: 'outcomeUnknown',
      retryable: true,
      mayBeBilling: true,
    });
    expect(server.calls()).toEqual([POST, GET, GET, GET]);
  });
});

test('is sent once more after a pause no longer than --timeout', async () => {
  const { server, clock, result } = await changed([cut, SUSPENDED, AVAILABLE], 100);
  expect(await result).toMatchObject({ status: 'AVAILABLE' });
  expect(server.calls()).toEqual([POST, GET, POST]);
  expect(clock.sleeps).toEqual([100]);
});

describe('a change that fails twice', () => {
  test.each([
    ['two 500s', status(500), 'refused'],
    ['two lost responses', cut, 'outcomeUnknown'],
    ['two 408s', status(408), 'outcomeUnknown'],
  ])('reports the last status after %s', async (_what, step, failure) => {
    const { server, result } = await changed([step, SUSPENDED, step, SUSPENDED]);
    const error = await failureOf(result);
    expect(error).toMatchObject({ failure, retryable: true, mayBeBilling: true });
    expect(error.message).toContain('Its status is SUSPENDED.');
    expect(server.calls()).toEqual([POST, GET, POST, GET]);
  });

  test('succeeds after a 400 to the second request if the state shows the effect', async () => {
    const { result } = await changed([cut, SUSPENDED, status(400), AVAILABLE]);
    expect(await result).toMatchObject({ status: 'AVAILABLE' });
    const refused = await changed([cut, SUSPENDED, status(400), SUSPENDED]);
    expect(await failureOf(refused.result)).toMatchObject({ failure: 'wrongState' });
    const later = new CliError('refused', 'later', { httpStatus: 503 });
    expect(rolledBack(later.with('x'))).toBeUndefined();
  });

  test('has an unknown outcome if the service becomes unreachable', async () => {
    const { server, result } = await changed([cut, last(SUSPENDED)]);
    const error = await failureOf(result);
    expect(error).toMatchObject({ failure: 'outcomeUnknown', mayBeBilling: true });
    expect(error.message).not.toContain('No changes made');
    expect(server.calls()).toEqual([POST, GET]);
  });
});

describe('a change refused with a pause', () => {
  const busy = (code: number, seconds: number) => status(code, { 'retry-after': String(seconds) });

  test('is sent once more after the Retry-After of a 429, without a read', async () => {
    const { server, clock, result } = await changed([busy(429, 7), AVAILABLE]);
    expect(await result).toMatchObject({ status: 'AVAILABLE' });
    expect(server.calls()).toEqual([POST, POST]);
    expect(clock.sleeps).toEqual([7_000]);
  });

  test('waits for the Retry-After of a 503', async () => {
    const { clock, result } = await changed([busy(503, 7), SUSPENDED, AVAILABLE]);
    expect(await result).toMatchObject({ status: 'AVAILABLE' });
    expect(clock.sleeps).toEqual([7_000]);
  });

  test.each([
    ['a second 429', [busy(429, 7), busy(429, 7)], [POST, POST]],
    ['a 429 with a pause past --timeout', [busy(429, 600)], [POST]],
    ['a 503 with a pause past --timeout', [busy(503, 600), SUSPENDED], [POST, GET]],
  ])('is rate limited after %s', async (_what, steps, calls) => {
    const { server, result } = await changed(steps);
    expect((await failureOf(result)).failure).toBe('rateLimited');
    expect(server.calls()).toEqual(calls);
  });

  test('sends at most two requests in all', async () => {
    const { server, result } = await changed([busy(429, 7), cut, SUSPENDED, SUSPENDED]);
    expect((await failureOf(result)).failure).toBe('outcomeUnknown');
    expect(server.calls()).toEqual([POST, POST, GET]);
  });
});

test('is not repeated after a certain refusal', async () => {
  const { server, result } = await changed([status(400)]);
  expect((await failureOf(result)).failure).toBe('wrongState');
  expect(server.calls()).toEqual([POST]);
});

test.each([
  ['an unknown outcome', cut, 'outcomeUnknown'],
  ['a 429', status(429), 'interrupted'],
])('sends nothing more if interrupted in the pause after %s', async (_what, step, failure) => {
  const { server, clock, interrupt, result } = await changed([step]);
  clock.onSleep = () => interrupt.abort(new CliError('interrupted', 'Interrupted.'));
  expect((await failureOf(result)).failure).toBe(failure);
  expect(server.calls()).toEqual([POST]);
});
