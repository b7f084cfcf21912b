import { expect, test } from 'vitest';
import { calledBy, hintOf } from '../../src/command-line/hints.ts';
import { CliError, type ErrorDetails, type Failure } from '../../src/errors.ts';
import { withProfile } from '../../src/output/shell-line.ts';

const STOP = { operation: 'POST /instances/{id}/stop', about: 'i-1' };

function printedHint(error: CliError): string | undefined {
  const hint = hintOf(error);
  return hint && withProfile(hint, undefined);
}

const REACH = 'Run gpucloud doctor to check the network, base URL and proxy settings.';
const PAGE = `The service sends JSON, not web pages. ${REACH}`;
const UNCLEAR = 'Check the base URL, and run the command again with --debug to see the response.';
const WRONG_URL = 'The base URL may be wrong, such as a missing /v1: gpucloud profiles get';
const AGAIN =
  'Try again later: gpucloud instances stop i-1; see why it failed: gpucloud instances events i-1';
const unresolved = (recover: string) =>
  `Recover the request before you use the name again on any computer: ${recover}; list known instances: gpucloud instances list`;
const ID = '3f0c5d9e-1111-4222-8333-444455556666';

test.each<[Failure, ErrorDetails, string | undefined]>([
  ['usage', { hint: 'say it right' }, 'say it right'],
  ['outcomeUnknown', { hint: 'its own', request: STOP }, 'its own'],
  ['storage', {}, undefined],
  ['storage', { request: STOP }, undefined],
  ['rateLimited', {}, 'Wait a moment, then run the command again.'],
  ['rateLimited', { retryAfterMs: 1000 }, 'Run the command again in 1 s.'],
  ['rateLimited', { retryAfterMs: 1001, request: STOP }, 'Run the command again in 2 s.'],
  [
    'unreachable',
    { request: { ...STOP, obstacle: 'deadline' } },
    `Allow more time with --timeout. ${REACH}`,
  ],
  ['unreachable', { request: { ...STOP, obstacle: 'network' } }, REACH],
  ['notUnderstood', { httpStatus: 302, request: { ...STOP, obstacle: 'web page' } }, PAGE],
  ['authentication', { httpStatus: 403, request: { ...STOP, obstacle: 'web page' } }, PAGE],
  ['notFound', { httpStatus: 404, request: { ...STOP, obstacle: 'web page' } }, PAGE],
  ['notUnderstood', { httpStatus: 299, request: STOP }, UNCLEAR],
  [
    'notUnderstood',
    { httpStatus: 300, request: STOP },
    'Check the base URL: gpucloud profiles get',
  ],
  [
    'notUnderstood',
    { httpStatus: 399, request: STOP },
    'Check the base URL: gpucloud profiles get',
  ],
  ['notUnderstood', { httpStatus: 400, request: STOP }, UNCLEAR],
  ['notUnderstood', { request: STOP }, UNCLEAR],
  [
    'authentication',
    { httpStatus: 401, request: { operation: 'GET /users/me' } },
    'Sign in with a working key: gpucloud login',
  ],
  [
    'wrongState',
    { httpStatus: 402, request: STOP },
    'Check your balance: gpucloud billing balance',
  ],
  ['notFound', { httpStatus: 404, request: { operation: 'GET /users/me' } }, WRONG_URL],
  ['notFound', { httpStatus: 404, request: { operation: 'GET /storage/drives' } }, WRONG_URL],
  ['notFound', { httpStatus: 404, request: { operation: 'GET /users/me/x' } }, undefined],
  ['notFound', { httpStatus: 404, request: { operation: 'XGET /users/me' } }, undefined],
  ['refused', { httpStatus: 499, request: STOP }, undefined],
  ['refused', { httpStatus: 500, request: STOP }, AGAIN],
  ['refused', { httpStatus: 408, request: STOP }, AGAIN],
  ['refused', { httpStatus: 407, request: STOP }, undefined],
  ['refused', { request: STOP }, undefined],
  [
    'outcomeUnknown',
    { request: { operation: 'POST /instances' } },
    unresolved("gpucloud instances recover ''"),
  ],
  ...['-name', ID].map((about): [Failure, ErrorDetails, string] => [
    'outcomeUnknown',
    { request: { operation: 'POST /instances', about } },
    unresolved('gpucloud instances recover'),
  ]),
  [
    'outcomeUnknown',
    { request: { operation: 'PUT /elsewhere' } },
    'Check whether the request took effect before you send it again.',
  ],
])('maps %s with %o to the hint %s', (failure, details, hint) => {
  expect(printedHint(new CliError(failure, 'It failed.', details))).toBe(hint);
});

test('names the instance in the hint as the user typed it', () => {
  const error = new CliError('refused', 'It failed.', { httpStatus: 503, request: STOP });
  expect(printedHint(calledBy('trainer', error))).toBe(AGAIN.replaceAll('i-1', 'trainer'));
});

test("keeps an extended error's request and hint", () => {
  const error = new CliError('outcomeUnknown', 'It failed.', { request: STOP }).with(
    'box: It failed.',
  );
  expect(printedHint(error)).toBe(
    'Check the status with gpucloud instances get i-1; you can repeat gpucloud instances stop i-1.',
  );
});

const CASES: readonly (readonly [string, Failure, ErrorDetails])[] = [
  ['unknown', 'outcomeUnknown', {}],
  ['404', 'notFound', { httpStatus: 404 }],
  ['409', 'wrongState', { httpStatus: 409 }],
  ['422', 'refused', { httpStatus: 422 }],
  ['503', 'refused', { httpStatus: 503 }],
];

/** The hints of every operation that changes something, by the outcome. */
test.each<[operation: string, hints: Readonly<Record<string, string>>]>([
  [
    'POST /instances',
    {
      503: 'Try again later.',
      unknown: unresolved('gpucloud instances recover i-1'),
    },
  ],
  [
    'POST /instances/{id}/reorder',
    {
      404: 'List known instances: gpucloud instances list --all',
      409: 'Only a TERMINATED instance can be reordered. Check the status: gpucloud instances get i-1',
      503: 'Try again later.',
      unknown: unresolved('gpucloud instances recover'),
    },
  ],
  [
    'POST /instances/{id}/start',
    {
      404: 'List known instances: gpucloud instances list --all',
      409: 'Only a STOPPED instance can be started, and the balance must cover one hour. Check the status: gpucloud instances get i-1',
      503: 'Try again later: gpucloud instances start i-1; see its status: gpucloud instances get i-1',
      unknown: 'Check the status: gpucloud instances get i-1',
    },
  ],
  [
    'POST /instances/{id}/stop',
    {
      404: 'List known instances: gpucloud instances list --all',
      409: 'Only an ACTIVE instance can be stopped. Check the status: gpucloud instances get i-1',
      503: AGAIN,
      unknown:
        'Check the status with gpucloud instances get i-1; you can repeat gpucloud instances stop i-1.',
    },
  ],
  [
    'POST /instances/{id}/terminate',
    {
      404: 'List known instances: gpucloud instances list --all',
      409: 'Check whether the instance is already terminated: gpucloud instances get i-1',
      503: 'Try again later: gpucloud instances terminate i-1; see why it failed: gpucloud instances events i-1',
      unknown:
        'Check the status with gpucloud instances get i-1; you can repeat gpucloud instances terminate i-1.',
    },
  ],
  [
    'POST /storage/drives',
    {
      404: WRONG_URL,
      503: 'Try again later.',
      unknown: 'Check whether the drive exists: gpucloud drives list',
    },
  ],
  [
    'PATCH /storage/drives/{id}',
    {
      404: 'List your drives: gpucloud drives list',
      503: 'Try again later.',
      unknown: 'Check the drive with gpucloud drives get i-1; you can repeat the update.',
    },
  ],
  [
    'POST /storage/drives/{id}/resume',
    {
      404: 'List your drives: gpucloud drives list',
      409: 'Only a SUSPENDED drive can be resumed. Check the status: gpucloud drives get i-1',
      503: 'Try again later.',
      unknown:
        'Check the status with gpucloud drives get i-1; you can repeat gpucloud drives resume i-1.',
    },
  ],
  [
    'POST /ssh-keys',
    {
      404: WRONG_URL,
      503: 'Try again later.',
      unknown: 'Check whether the key exists: gpucloud ssh-keys list',
    },
  ],
  [
    'DELETE /ssh-keys/{id}',
    {
      404: 'List your SSH keys: gpucloud ssh-keys list',
      503: 'Try again later.',
      unknown: 'Check whether the key exists: gpucloud ssh-keys list',
    },
  ],
  [
    'POST /api-keys',
    {
      404: WRONG_URL,
      503: 'Try again later.',
      unknown: 'Check whether the key exists: gpucloud api-keys list',
    },
  ],
  [
    'PATCH /users/me',
    {
      404: WRONG_URL,
      503: 'Try again later.',
      unknown: 'Check the name with gpucloud me get; you can repeat the update.',
    },
  ],
  [
    'POST /users/me/update-password',
    {
      404: WRONG_URL,
      503: 'Try again later.',
      unknown:
        'Run gpucloud me set-password again. The service rejects the old password if the change took effect.',
    },
  ],
  [
    'POST /billing/promo/activate',
    {
      404: 'Check the spelling and case of the code: gpucloud billing promo CODE',
      422: 'The code may be expired or used. List your bonuses: gpucloud billing transactions --type bonus',
      503: 'Try again later.',
      unknown: 'Check whether the bonus was credited: gpucloud billing transactions',
    },
  ],
])('has the hints of %s', (operation, hints) => {
  const found = CASES.flatMap(([outcome, failure, details]) => {
    const request = { operation, about: 'i-1' };
    const hint = printedHint(new CliError(failure, 'It failed.', { ...details, request }));
    return hint === undefined ? [] : [[outcome, hint]];
  });
  expect(Object.fromEntries(found)).toEqual(hints);
});
