import { describe, expect, test } from 'vitest';
import { CliError } from '../../../src/errors.ts';
import { notCopied } from '../../../src/instances/deadlines/rescued.ts';
import { nextStep, paidTime, type Situation } from '../../../src/jobs/rescue/state.ts';
import { lostError } from '../../../src/jobs/rescue/words.ts';
import { priceIn } from '../../../src/rules/money.ts';

const MINUTE = 60_000;

/** Minutes; the deadline is at 100, and copying begins 10 minutes earlier. */
const USUAL: Situation = {
  now: 0,
  deadline: 100,
  due: undefined,
  early: 10,
  paid: 60,
  every: 5,
  copied: 'not yet',
};

describe('what happens next to an instance with --rescue', () => {
  test.each([
    // Before the deadline.
    [{ now: 0 }, 'wait'],
    [{ now: 84 }, 'wait'],
    [{ now: 85 }, 'copy'],
    [{ now: 99 }, 'copy'],
    [{ now: 90, copied: 'early' }, 'wait'],
    [{ now: 90, copied: 'partly' }, 'copy'],
    [{ now: 90, copied: 'failed' }, 'wait'],
    [{ now: 90, copied: 'whole' }, 'wait'],
    // Without a budget, the last pass before the deadline copies what has changed.
    [{ now: 94, paid: 0, copied: 'early' }, 'wait'],
    [{ now: 95, paid: 0, copied: 'early' }, 'copy'],
    [{ now: 95, paid: 0, copied: 'copied' }, 'wait'],
    [{ now: 95, paid: 0, copied: 'failed' }, 'wait'],
    [{ now: 95, copied: 'early' }, 'wait'],
    // Only an idle rule.
    [{ now: 90, deadline: undefined }, 'wait'],
    [{ now: 90, deadline: undefined, due: 90 }, 'copy'],
    // Due.
    [{ now: 100, due: 100 }, 'copy'],
    [{ now: 100, due: 100, copied: 'early' }, 'copy'],
    [{ now: 100, due: 100, copied: 'whole' }, 'end'],
    [{ now: 100, due: 100, copied: 'failed' }, 'keep'],
    [{ now: 154, due: 100, copied: 'failed' }, 'keep'],
    [{ now: 155, due: 100, copied: 'failed' }, 'retry'],
    [{ now: 160, due: 100, copied: 'failed' }, 'give up'],
    [{ now: 155, due: 100, copied: 'again' }, 'copy'],
    [{ now: 160, due: 100, copied: 'again' }, 'give up'],
    [{ now: 160, due: 100, copied: 'whole' }, 'end'],
    // This computer slept: the budget counts from the first pass.
    [{ now: 400, due: 400 }, 'copy'],
    // It slept again, longer than the budget: one try.
    [{ now: 400, due: 100, copied: 'not yet' }, 'copy'],
    [{ now: 400, due: 100, copied: 'early' }, 'copy'],
    [{ now: 400, due: 100, copied: 'partly' }, 'copy'],
    [{ now: 400, due: 100, copied: 'failed' }, 'give up'],
    [{ now: 400, due: 100, copied: 'whole' }, 'end'],
    // Without a budget, the tries before the deadline count, or else one try.
    [{ now: 100, due: 100, paid: 0 }, 'copy'],
    [{ now: 100, due: 100, paid: 0, copied: 'early' }, 'give up'],
    [{ now: 100, due: 100, paid: 0, copied: 'copied' }, 'give up'],
    [{ now: 100, due: 100, paid: 0, copied: 'partly' }, 'give up'],
    [{ now: 100, due: 100, paid: 0, copied: 'failed' }, 'give up'],
    // `run` and `mcp` end an instance before its deadline.
    [{ now: 95, due: 95, paid: 0 }, 'copy'],
    [{ now: 95, due: 95, paid: 0, copied: 'early' }, 'copy'],
    [{ now: 95, due: 95, copied: 'copied' }, 'copy'],
    [{ now: 95, due: 95, paid: 0, copied: 'failed' }, 'give up'],
    [{ now: 95, due: 95, paid: 0, copied: 'whole' }, 'end'],
  ] as const)('%j: %s', (change, step) => {
    expect(nextStep({ ...USUAL, ...change })).toBe(step);
  });
});

describe('the time that a budget pays for', () => {
  test.each([
    [null, '89.90', 60],
    [null, undefined, 60],
    ['89.90', '89.90', 60],
    ['44.95', '89.90', 30],
    ['0', '89.90', 0],
    // An amount must not be exceeded, and a price of zero must not keep the instance for ever.
    ['50', undefined, 0],
    ['50', '0', 60],
  ])('%s roubles at %s per hour: %d minutes', (budget, price, minutes) => {
    const amount = budget === null ? null : (priceIn(budget) ?? null);
    expect(paidTime(amount, priceIn(price))).toBe(minutes * MINUTE);
  });

  test('never costs more than the budget', () => {
    const [budget, price] = [priceIn('10'), priceIn('89.90')];
    if (budget === undefined || price === undefined) throw new Error('both are amounts');
    const cost = price.times(paidTime(budget, price)).div(3_600_000);
    expect(cost.lte(budget)).toBe(true);
  });
});

describe('the report of an instance whose budget was used up', () => {
  const copied_at = '2026-01-15T12:00:00.000Z';
  const out = { ...notCopied({ remote: 'out', local: '/here/out' }), copied_at };
  const log = notCopied({ remote: 'log', local: '/here/log' });

  test.each([
    ['what was never copied', [out, log], 'not copied: log'],
    ['a copy that failed', [{ ...out, failure: 'cut' }], 'last copy: out is from 10 min ago'],
    ['a copy that took too long', [out], 'last copy: out is from 10 min ago'],
  ])('names %s', (_what, paths, missing) => {
    const cause = new CliError('deadline', 'Copying takes longer than the budget pays for.');
    const now = Date.parse(copied_at) + 10.5 * MINUTE;
    expect(lostError({ id: 'i', name: 'lab' }, paths, cause, now)).toMatchObject({
      failure: 'runFailed',
      message: `The budget of lab was used up, so it was terminated before everything was copied (${missing}). Copying takes longer than the budget pays for.`,
    });
  });
});
