import { describe, expect, test } from 'vitest';
import {
  asCliError,
  CliError,
  doubt,
  ensureCliError,
  FAILURES,
  type Failure,
  SeveralErrors,
  worstOf,
} from '../src/errors.ts';
import { faultReport, profileIn, report } from '../src/report.ts';

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

test('keeps all fields of the most serious error when errors are combined', () => {
  const several = new SeveralErrors([
    new CliError('notFound', 'gone', { retryable: true, retryAfterMs: 9000 }),
    new CliError('outcomeUnknown', 'lost', { ...full, retryable: false, retryAfterMs: 1000 }),
  ]);
  expect(new SeveralErrors([new CliError('refused', 'x')]).retryAfterMs).toBeUndefined();
  const { events: _events, ...kept } = full;
  expect(several).toMatchObject({
    ...kept,
    exitCode: 7,
    message: 'lost',
    retryable: false,
    retryAfterMs: 9000,
  });
});

/** Every failure, most serious first. */
const ORDER: readonly Failure[] = [
  'outcomeUnknown',
  'runFailed',
  'storage',
  'terminated',
  'interrupted',
  'hungUp',
  'notUnderstood',
  'refused',
  'authentication',
  'unreachable',
  'rateLimited',
  'otherEnd',
  'wrongState',
  'deadline',
  'notFound',
  'usage',
];

test('ranks every failure', () => {
  expect([...ORDER].sort()).toEqual(Object.keys(FAILURES).sort());
  const left = ORDER.map((failure) => new CliError(failure, failure)).reverse();
  const ranked: Failure[] = [];
  for (let worst = worstOf(left); worst !== undefined; worst = worstOf(left)) {
    ranked.push(worst.failure);
    left.splice(left.indexOf(worst), 1);
  }
  expect(ranked).toEqual(ORDER);
});

test('exits with 7 after an unknown outcome and a failed run', () => {
  const failed = new CliError('runFailed', 'lost');
  const unsure = doubt('Could not terminate trainer.', { resource: 'trainer' });
  expect(new SeveralErrors([failed, unsure])).toMatchObject({
    exitCode: 7,
    message: 'Could not terminate trainer.',
    mayBeBilling: true,
  });
});

test('throws on what is not a CliError', () => {
  const bug = new TypeError('x is undefined');
  expect(() => ensureCliError(bug)).toThrow(bug);
  expect(ensureCliError(new CliError('refused', 'x'))).toBeUndefined();
});

test('reports the first of several equally serious errors', () => {
  const [first, second] = [new CliError('refused', 'first'), new CliError('refused', 'second')];
  expect(worstOf([first, second])).toBe(first);
  expect(worstOf([])).toBeUndefined();
});

describe('the table of failures', () => {
  const DOCUMENTED: Record<Failure, number> = {
    refused: 1,
    usage: 2,
    notFound: 3,
    authentication: 4,
    wrongState: 5,
    unreachable: 6,
    outcomeUnknown: 7,
    deadline: 8,
    storage: 9,
    notUnderstood: 10,
    rateLimited: 11,
    otherEnd: 12,
    runFailed: 125,
    hungUp: 129,
    interrupted: 130,
    terminated: 143,
  };

  test('matches the table of failures to the documented exit codes', () => {
    const table = Object.fromEntries(
      Object.entries(FAILURES).map(([name, { exit }]) => [name, exit]),
    );
    expect(table).toEqual(DOCUMENTED);
  });

  test("converts a failure's name to a code in snake case", () => {
    expect(new CliError('outcomeUnknown', 'x').code).toBe('outcome_unknown');
  });
});

test.each([
  ...['thrown', new CliError('refused', 'svc_sk_abc costs 5.00 ₽.')],
  ...['x', 'WebAssembly'].map((name) => new ReferenceError(`${name} is not defined`)),
])('reports what was thrown: %s', (thrown) => {
  const how = { json: false, profile: undefined, debug: false, ascii: true };
  expect(report(asCliError(thrown), how)).toMatchSnapshot();
});

test.each([
  ['status', {}],
  ['status --debug', {}],
  ['status', { GPUCLOUD_OUTPUT: 'json' }],
])('reports a fault that no command caught: %s %j', (line, env) => {
  const fault = Object.assign(new TypeError('x at y'), {
    stack: 'TypeError: x at y\n    at f (a.js:1:2)',
  });
  expect(faultReport(fault, line.split(' '), env)).toMatchSnapshot();
});

test.each([
  ['status --profile work', 'work'],
  ['--profile=a --profile b c', 'b'],
  ['--profile b --profile=a', 'a'],
  ['--profile -y', undefined],
  ['status --profile', undefined],
  ['--profiles a', undefined],
  ['x--profile a', undefined],
  ['run -- --profile a', undefined],
])('finds the profile in %s', (line, profile) => {
  expect(profileIn(line.split(' '))).toBe(profile);
});
