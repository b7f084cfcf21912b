import { describe, expect, test } from 'vitest';
import { retryAfterMs } from '../../src/api/errors.ts';
import { manualClock } from '../support/clock.ts';
import { apiFor, data, failureOf, fakeClock, type Step, scripted, status } from './harness.ts';

const USER = { id: 'user-1' };

async function run(steps: Step[]) {
  const server = await scripted(...steps);
  const clock = fakeClock();
  return { server, clock, api: apiFor(server.url, { clock }) };
}

describe('Retry-After', () => {
  const SENT = { date: 'Thu, 15 Jan 2026 10:00:00 GMT' };

  test('waits for the whole number of seconds in Retry-After', async () => {
    const { api, clock } = await run([status(429, { 'retry-after': '7' }), data(USER)]);
    await api.users.me();
    expect(clock.sleeps).toEqual([7000]);
  });

  test.each([26, -26])(
    "measures a Retry-After date by the Date header, %i hours from this computer's clock",
    async (ahead) => {
      const at = (seconds: number) =>
        new Date(Date.parse(SENT.date) + ahead * 3_600_000 + seconds * 1000).toUTCString();
      const { api, clock } = await run([
        status(503, { 'retry-after': at(9), date: at(0) }),
        data(USER),
      ]);
      await api.users.me();
      expect(clock.sleeps).toEqual([9000]);
    },
  );

  test.each([
    ['forward', 26, '7', [7_000, 7_000]],
    ['back', -26, '21', []],
  ])(
    'measures the pause against --timeout after the clock moves %s',
    async (_way, hours, wait, sleeps) => {
      const clock = manualClock();
      const busy: Step = (request, response) => {
        clock.step(hours * 3_600_000);
        status(429, { 'retry-after': wait })(request, response);
      };
      const server = await scripted(busy, busy, data(USER));
      const call = apiFor(server.url, { clock }).users.me();
      if (sleeps.length > 0) await call;
      else expect(await failureOf(call)).toMatchObject({ failure: 'rateLimited' });
      expect(clock.slept).toEqual(sleeps);
    },
  );

  test.each<[string, string | undefined, number | undefined]>([
    ['Thu, 15 Jan 2026 10:00:09 GMT', undefined, 8000],
    ['Thu, 15 Jan 2026 10:00:09 GMT', 'Thu, 15 Jan 2026 10:00:03 GMT', 6000],
    ['Thu, 15 Jan 2026 10:00:09 GMT', 'today', 8000],
    ['Thu, 15 Jan 2026 10:00:00 GMT', undefined, 0],
    ['Thu, 15 Jan 2026 09:59:00 GMT', undefined, 0],
    ...['Thu, soon', '-1', 'soon', '1e3', ''].map((text): [string, undefined, undefined] => [
      text,
      undefined,
      undefined,
    ]),
    ['999999999', undefined, 999_999_999_000],
    ['1000000000', undefined, undefined],
    [' 0 ', undefined, 0],
  ])('reads the Retry-After %j in a response of %j as %j ms', (text, date, expected) => {
    const now = Date.parse('2026-01-15T10:00:01Z');
    const headers = { 'retry-after': text, ...(date === undefined ? {} : { date }) };
    expect(retryAfterMs(headers, now)).toBe(expected);
  });

  test('ignores an unreadable Retry-After', async () => {
    const { api, clock } = await run([status(429, { 'retry-after': '-1' }), data(USER)]);
    await api.users.me();
    expect(clock.sleeps).toEqual([250]);
  });

  test.each([429, 503])(
    'fails immediately if the pause after a %i exceeds the deadline',
    async (code) => {
      const { api, clock, server } = await run([status(code, { 'retry-after': '21' }), data(USER)]);
      const error = await failureOf(api.users.me());
      expect(error).toMatchObject({ failure: 'rateLimited', retryable: true, httpStatus: code });
      expect(error.code).toBe(code === 503 ? 'unavailable' : 'rate_limited');
      expect(error.message).toContain('21 s');
      expect(clock.sleeps).toEqual([]);
      expect(server.calls()).toHaveLength(1);
    },
  );
});
