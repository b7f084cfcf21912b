import { describe, expect, test } from 'vitest';
import { retryAfterMs } from '../../src/api/errors.ts';
import { manualClock } from '../support/clock.ts';
import { apiFor, data, failureOf, fakeClock, type Step, scripted, status } from './harness.ts';

const USER = { id: 'user-1' };

describe('Retry-After', () => {
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
      const call = apiFor(server.url, { clock }).users.me({
        longestPauseMs: Number(wait) * 1000,
      });
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
    ['Thu, soon', undefined, undefined],
    ['x Thu, 15 Jan 2026 10:00:09 GMT', undefined, undefined],
    ['-1', undefined, undefined],
    ['1e3', undefined, undefined],
    ['', undefined, undefined],
    ['999999999', undefined, 999_999_999_000],
    ['1000000000', undefined, undefined],
    [' 0 ', undefined, 0],
  ])('reads the Retry-After %j in a response of %j as %j ms', (text, date, expected) => {
    const now = Date.parse('2026-01-15T10:00:01Z');
    const headers = { 'retry-after': text, ...(date === undefined ? {} : { date }) };
    expect(retryAfterMs(headers, now)).toBe(expected);
  });

  test.each([429, 503])(
    'fails immediately if the pause after a %i exceeds the deadline',
    async (code) => {
      const headers = { 'retry-after': new Date(Date.UTC(2026, 0, 15, 10, 0, 21)).toUTCString() };
      const server = await scripted((request, response) => {
        response.sendDate = false;
        status(code, headers)(request, response);
      }, data(USER));
      const clock = { ...fakeClock(), now: () => Date.UTC(2026, 0, 15, 10, 0, 0, 400) };
      const api = apiFor(server.url, { clock });
      const error = await failureOf(api.users.me());
      expect(error).toMatchObject({ failure: 'rateLimited', retryable: true, httpStatus: code });
      expect(error.code).toBe(code === 503 ? 'unavailable' : 'rate_limited');
      expect(error.message).toContain(`(${code}, Retry-After: 21 s).`);
      expect(clock.sleeps).toEqual([]);
      expect(server.calls()).toHaveLength(1);
    },
  );
});
