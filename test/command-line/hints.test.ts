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
