import { expect, test } from 'vitest';
import { CliError, SeveralErrors } from '../src/errors.ts';

const full = {
  code: 'name_taken',
  hint: 'choose another name',
  request: { operation: 'POST /instances' },
  httpStatus: 409,
  retryable: true,
  resource: 'trainer',
  mayBeBilling: true,
  events: [{ created_at: '', type: 'INFO', message: 'made' }],
  retryAfterMs: 7000,
};

test('keeps all fields when an error message is extended', () => {
  const error = new CliError('wrongState', 'The name is taken.', full);
  const extended = error.with('Refused.');
  expect({ ...extended }).toMatchObject({ ...full, failure: 'wrongState' });
  expect(extended.cause).toBe(error);
});

test('keeps mayBeBilling when errors are combined into the most serious one', () => {
  const several = new SeveralErrors([
    new CliError('notFound', 'gone', { retryable: true, retryAfterMs: 9000 }),
    new CliError('outcomeUnknown', 'lost', { mayBeBilling: true, retryAfterMs: 1000 }),
  ]);
  expect(several).toMatchObject({
    exitCode: 7,
    message: 'lost',
    mayBeBilling: true,
    retryable: false,
    retryAfterMs: 9000,
  });
});
