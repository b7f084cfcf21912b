import { expect, test } from 'vitest';
import { CliError, type Failure, SeveralErrors } from '../../src/errors.ts';
import { attempt, billText, outcomeOf, withBill } from '../../src/instances/change/outcome.ts';

const [A, B, C] = [1, 2, 3].map((n) => ({
  id: `${n}f0c5d9e-1111-4222-8333-444455556666`,
  // Nobody could type it.
  name: `box ${n}`,
}));
const trainer = { ...A, last: 'STOPPED' } as { id: string; name: string; last: string };

/** Everything that an error says to people and scripts. */
const factsOf = (error: CliError) => {
  const { failure, message, hint, resource, retryable, mayBeBilling, events } = error;
  const flags = [retryable && 'retryable', mayBeBilling && 'may bill'].filter(Boolean).join(', ');
  return [failure, message, hint, resource, flags, ...events.map((one) => one.message)].join('\n');
};

const FAILURES: readonly Failure[] = [
  ...['interrupted', 'deadline', 'rateLimited', 'otherEnd', 'authentication', 'notFound'],
] as Failure[];

test.each(FAILURES)('says after a wait what bills and what to do next: %s', (failure) => {
  const waits = [
    { until: 'ACTIVE' },
    { until: 'STOPPED', after: 'STOPPING' },
    { until: 'TERMINATED', after: 'TERMINATING', profile: 'work' },
  ];
  const statuses = [undefined, 'ACTIVE', 'STOPPED', 'TERMINATED'];
  const targets = [A, trainer] as [typeof trainer, typeof trainer];
  const found = waits.flatMap((wait) =>
    targets.flatMap((target) =>
      statuses.map((seen) => {
        const retryAfterMs = failure === 'rateLimited' ? 61_000 : undefined;
        const error = new CliError(failure, 'It failed.', { retryable: true, retryAfterMs });
        const events = [{ created_at: '', type: '', message: 'an event' }];
        const facts = factsOf(withBill(error, { target, ...wait }, seen, events));
        return `${wait.until} ${target.last ?? '-'} ${seen ?? '-'}:\n${facts}`;
      }),
    ),
  );
  expect(found.join('\n\n')).toMatchSnapshot();
});

test('says whether a status bills', () => {
  const statuses = ['ACTIVE', 'STOPPED', 'TERMINATED', 'ERROR', 'NEW', undefined];
  expect(statuses.map((status) => [status, billText(status)])).toMatchSnapshot();
});

test.each(['It failed.', 'box 1 failed.', `${A?.id} failed.`])(
  'names the instance of a failure: %s',
  async (message) => {
    const error = new CliError('refused', message, { hint: 'mend it' });
    const found = await attempt(trainer, () => Promise.reject(error));
    expect(factsOf(found as CliError)).toMatchSnapshot();
  },
);

/** The failures of several instances: whether each may bill, and how the first fails. */
test.each<[string, Failure, readonly (boolean | undefined)[]]>([
  ['one', 'interrupted', [true, undefined, undefined]],
  ['two of three', 'interrupted', [true, undefined, true]],
  ['all, of which some bill', 'interrupted', [true, false, true]],
  ['all, of which none bills', 'interrupted', [false, false, false]],
  ['all, of which all bill', 'interrupted', [true, true, true]],
  ['all, for another reason', 'deadline', [true, true, true]],
])('combines the failures of %s (%s)', (_what, failure, billing) => {
  const targets = [A, B, C] as { id: string; name: string }[];
  const each = targets.map(({ id, name }, at) => {
    const mayBeBilling = billing[at];
    if (mayBeBilling === undefined) return { id, name, status: 'ACTIVE' };
    const how = at === 0 ? failure : 'interrupted';
    const cause = new CliError(how, 'Interrupted.');
    return new CliError(how, `${name} failed.`, {
      resource: id,
      mayBeBilling,
      ...(mayBeBilling && { cause }),
    });
  });
  const { changed, failure: found } = outcomeOf(each, targets);
  expect(changed).toEqual(each.filter((one) => !(one instanceof CliError)));
  const summary = found instanceof SeveralErrors ? found.summary : undefined;
  expect([found, summary].map((one) => one && factsOf(one)).join('\n\n')).toMatchSnapshot();
});

test('combines nothing without a failure', () => {
  expect(outcomeOf([], [])).toEqual({ changed: [], failure: undefined });
});
