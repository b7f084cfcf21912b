import { expect, test } from 'vitest';
import { calledBy, hintOf } from '../../src/command-line/hints.ts';
import { CliError, type ErrorDetails, type Failure } from '../../src/errors.ts';
import { withProfile } from '../../src/output/shell-line.ts';

const STOP = { operation: 'POST /instances/{id}/stop', about: 'i-1' };

function printedHint(error: CliError): string | undefined {
  const hint = hintOf(error);
  return hint && withProfile(hint, undefined);
}

test.each<[Failure, ErrorDetails, string | undefined]>([
  ['usage', { hint: 'say it right' }, 'say it right'],
  ['outcomeUnknown', { hint: 'its own', request: STOP }, 'its own'],
  ['storage', {}, undefined],
  ['rateLimited', {}, 'Wait a moment'],
  ['rateLimited', { retryAfterMs: 1500 }, 'again in 2 s'],
  ['unreachable', { request: { ...STOP, obstacle: 'deadline' } }, '--timeout'],
  ['unreachable', { request: { ...STOP, obstacle: 'network' } }, 'gpucloud doctor'],
  ['notUnderstood', { request: { ...STOP, obstacle: 'web page' } }, 'gpucloud doctor'],
  ['notUnderstood', { httpStatus: 302, request: STOP }, 'gpucloud profiles get'],
  ['notUnderstood', { httpStatus: 200, request: STOP }, '--debug'],
  ['authentication', { httpStatus: 401, request: STOP }, 'gpucloud login'],
  [
    'authentication',
    { httpStatus: 401, request: { operation: 'GET /users/me' } },
    'gpucloud login',
  ],
  ['notFound', { httpStatus: 404, request: STOP }, 'gpucloud instances list --all'],
  ['wrongState', { httpStatus: 402, request: STOP }, 'gpucloud billing balance'],
  ['wrongState', { httpStatus: 409, request: STOP }, 'gpucloud instances get i-1'],
  [
    'notFound',
    { httpStatus: 404, request: { operation: 'GET /users/me' } },
    'The base URL may be wrong, such as a missing /v1: gpucloud profiles get',
  ],
  ['notFound', { httpStatus: 404, request: { operation: 'GET /storage/drives' } }, 'base URL'],
  ['notFound', { httpStatus: 404, request: { operation: 'GET /elsewhere' } }, undefined],
  ['refused', { httpStatus: 503, request: STOP }, 'gpucloud instances stop i-1'],
  ['refused', { httpStatus: 422, request: STOP }, undefined],
  ['outcomeUnknown', { request: STOP }, 'you can repeat gpucloud instances stop i-1'],
  ['outcomeUnknown', { request: { operation: 'POST /instances' } }, 'gpucloud instances recover'],
  ['outcomeUnknown', { request: { operation: 'POST /storage/drives' } }, 'gpucloud drives list'],
  ['outcomeUnknown', { request: { operation: 'POST /api-keys' } }, 'gpucloud api-keys list'],
  ['outcomeUnknown', { request: { operation: 'PUT /elsewhere' } }, 'before you send it again'],
])('maps %s with %o to the hint %s', (failure, details, hint) => {
  const found = printedHint(new CliError(failure, 'It failed.', details));
  if (hint === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(hint);
});

test('names the instance in the hint as the user typed it', () => {
  const error = new CliError('refused', 'It failed.', { httpStatus: 503, request: STOP });
  expect(printedHint(calledBy('trainer', error))).toBe(
    'Try again later: gpucloud instances stop trainer; see why it failed: gpucloud instances events trainer',
  );
});

test("keeps an extended error's request and hint", () => {
  const error = new CliError('outcomeUnknown', 'It failed.', { request: STOP }).with(
    'box: It failed.',
  );
  expect(printedHint(error)).toContain('gpucloud instances stop i-1');
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
      unknown:
        'Recover the request before you use the name again on any computer: gpucloud instances recover i-1; list known instances: gpucloud instances list',
    },
  ],
  [
    'POST /instances/{id}/reorder',
    {
      404: 'List known instances: gpucloud instances list --all',
      409: 'Only a TERMINATED instance can be reordered. Check the status: gpucloud instances get i-1',
      503: 'Try again later.',
      unknown:
        'Recover the request before you use the name again on any computer: gpucloud instances recover; list known instances: gpucloud instances list',
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
      503: 'Try again later: gpucloud instances stop i-1; see why it failed: gpucloud instances events i-1',
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
      404: 'The base URL may be wrong, such as a missing /v1: gpucloud profiles get',
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
      404: 'The base URL may be wrong, such as a missing /v1: gpucloud profiles get',
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
      404: 'The base URL may be wrong, such as a missing /v1: gpucloud profiles get',
      503: 'Try again later.',
      unknown: 'Check whether the key exists: gpucloud api-keys list',
    },
  ],
  [
    'PATCH /users/me',
    {
      404: 'The base URL may be wrong, such as a missing /v1: gpucloud profiles get',
      503: 'Try again later.',
      unknown: 'Check the name with gpucloud me get; you can repeat the update.',
    },
  ],
  [
    'POST /users/me/update-password',
    {
      404: 'The base URL may be wrong, such as a missing /v1: gpucloud profiles get',
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
