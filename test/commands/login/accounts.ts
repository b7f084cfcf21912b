import type { Answer, RecordedRequest } from '../../support/service.ts';
import { ok } from '../../support/service.ts';

export const ANNA_KEY = 'svc_sk_test_anna_0001';
export const BORIS_KEY = 'svc_sk_test_boris_0002';

const ANNA = { id: 'user-anna', email: 'anna@example.com', name: 'Anna', balance: '1500.50' };
const BORIS = { id: 'user-boris', email: null, name: 'Boris', balance: '7.00' };

/** Accepts GET /users/me with two keys, and refuses all other requests. */
export function accounts({ method, path, headers }: RecordedRequest): Answer {
  const user = { [ANNA_KEY]: ANNA, [BORIS_KEY]: BORIS }[headers['x-api-key'] ?? ''];
  if (user === undefined) {
    return {
      status: 401,
      body: { statusCode: 401, message: 'Invalid API key', error: 'Unauthorized' },
    };
  }
  if (method !== 'GET' || path !== '/users/me') {
    return { status: 404, body: { statusCode: 404, message: 'Not here', error: 'Not Found' } };
  }
  return ok(user);
}
