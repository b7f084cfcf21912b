import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type DescribedService, describedService } from '../openapi/described-service.ts';
import { type Checker, describedChecker } from '../openapi/description.ts';
import { INSTANCE_ID as ID, samples } from '../openapi/samples.ts';
import { type Service, startService } from '../support/service.ts';
import { apiFor, KEY } from './harness.ts';

let checker: Checker;
beforeAll(async () => {
  checker = await describedChecker();
});

/** Starts a service that checks requests against the OpenAPI description. */
async function described(): Promise<Service & Pick<DescribedService, 'complaints'>> {
  const { handler, complaints } = describedService(checker, samples());
  const service = await startService(handler);
  onTestFinished(() => service.close());
  return { ...service, complaints };
}

test('sends only the given query parameters', async () => {
  const server = await described();
  const api = apiFor(server.url);
  await api.instances.events(ID);
  await api.billing.transactions();
  await api.billing.transactions({ type: ['BONUS'] });
  expect(server.complaints).toEqual([]);
  expect(server.requests.map(({ path }) => path.split('?')[1])).toEqual([
    undefined,
    undefined,
    'type=BONUS',
  ]);
});

test('sends to the path of the base URL, with the documented headers', async () => {
  const server = await described();
  const { users } = apiFor(`${server.url}/api/v1`);
  await users.me().catch(() => undefined);
  await users.update({ name: 'Анна' }).catch(() => undefined);
  const usual = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    host: new URL(server.url).host,
    'user-agent': 'gpucloud/test',
    'x-api-key': KEY,
  };
  const sent = server.requests.map(({ method, path, headers }) => {
    const { connection: _connection, 'content-length': _length, ...rest } = headers;
    return { method, path, headers: rest };
  });
  expect(sent).toEqual([
    { method: 'GET', path: '/api/v1/users/me', headers: usual },
    {
      method: 'PATCH',
      path: '/api/v1/users/me',
      headers: { ...usual, 'content-type': 'application/json' },
    },
  ]);
});
