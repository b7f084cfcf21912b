import { expect, test } from 'vitest';
import { envelope } from '../support/service.ts';
import { apiFor, CREATE, closedPort, data, failureOf, ID, instance, scripted } from './harness.ts';

async function traced(step: Parameters<typeof scripted>[0]) {
  const lines: string[] = [];
  const server = await scripted(step);
  const api = apiFor(server.url, { trace: (line) => void lines.push(line) });
  return { api, lines, server };
}

const HEADERS = [
  'accept: application/json',
  'accept-encoding: identity',
  'user-agent: gpucloud/test',
].map((line) => `> ${line}`);

test('traces requests and responses', async () => {
  const { api, lines, server } = await traced(data(instance('ACTIVE')));
  await api.instances.get(ID);
  expect(lines).toEqual([
    `> GET ${server.url}/instances/${ID}`,
    ...[...HEADERS, '> x-api-key: ********', '< 200', '< content-type: application/json'],
    expect.stringMatching(/^< date: ./),
    `< ${JSON.stringify(envelope(instance('ACTIVE')))}`,
  ]);
});

test('traces only the size of a non-JSON body, and no control characters', async () => {
  const { api, lines, server } = await traced((_request, response) => {
    response.writeHead(500, { 'retry-after': '1\t', 'content-type': 'text/plain' });
    response.end('{"secret_key":"cut-off-secret');
  });
  await failureOf(api.instances.create(CREATE));
  expect(lines).toEqual([
    `> POST ${server.url}/instances`,
    ...[...HEADERS, '> content-type: application/json', '> x-api-key: ********'],
    `> ${JSON.stringify(CREATE)}`,
    ...['< 500', '< content-type: text/plain', '< retry-after: 1'],
    expect.stringMatching(/^< date: ./),
    '< (29 bytes that are not JSON)',
  ]);
});

test('traces a failed connection', async () => {
  const lines: string[] = [];
  const api = apiFor(await closedPort(), { trace: (line) => void lines.push(line) });
  await failureOf(api.users.me());
  expect(lines.filter((line) => line.startsWith('!'))).toEqual(
    Array(3).fill('! connection refused'),
  );
});
