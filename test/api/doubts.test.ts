import { expect, test } from 'vitest';
import { apiFor, cut, failureOf, json, type Step, scripted, status } from './harness.ts';

const api = async (...steps: Step[]) => apiFor((await scripted(...steps)).url);

test.each([
  ['a 429 with a long pause', status(429, { 'retry-after': '7200' })],
  ['a 503 with a long pause', status(503, { 'retry-after': '7200' })],
  ['a 400', status(400)],
  ['a 401', status(401)],
])('reports an unknown PATCH outcome if %s follows a cut connection', async (_what, step) => {
  const error = await failureOf(
    (await api(cut, step)).drives.update('drive-1', { name: 'data', size_gb: 900 }),
  );
  expect(error).toMatchObject({ failure: 'outcomeUnknown', resource: 'drive-1' });
  expect(error.message).toContain('an earlier attempt may have taken effect');
});

test('reports rateLimited if the pause is too long and no attempt changed anything', async () => {
  const limited = await api(status(429), status(429, { 'retry-after': '7200' }));
  expect((await failureOf(limited.users.update({ name: 'Ann' }))).failure).toBe('rateLimited');
});

test('does not count a 200 with an error in its body as a deletion', async () => {
  const failing = await api(json(200, { statusCode: 500, message: 'could not delete' }));
  expect((await failureOf(failing.sshKeys.delete('key-1'))).failure).toBe('notUnderstood');
});
