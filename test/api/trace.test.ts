import { expect, test } from 'vitest';
import { apiFor, CREATE, closedPort, data, failureOf, ID, instance, scripted } from './harness.ts';

async function traced(step: Parameters<typeof scripted>[0]) {
  const lines: string[] = [];
  const server = await scripted(step);
  const api = apiFor(server.url, { trace: (line) => void lines.push(line) });
  return { api, lines, server };
}

test('traces requests and responses', async () => {
  const { api, lines, server } = await traced(data(instance('ACTIVE')));
  await api.instances.get(ID);
  expect(lines).toContain(`> GET ${server.url}/instances/${ID}`);
  expect(lines).toContain('> x-api-key: ********');
  expect(lines).toContain('< 200');
  expect(lines.at(-1)).toContain('"status":"ACTIVE"');
});

test('traces only the size of a non-JSON body, and no control characters', async () => {
  const { api, lines } = await traced((_request, response) => {
    response.writeHead(500, { 'retry-after': '1\t', 'content-type': 'text/plain' });
    response.end('{"secret_key":"cut-off-secret');
  });
  await failureOf(api.instances.create(CREATE));
  expect(lines).toContain('< (29 bytes that are not JSON)');
  expect(lines.join('')).not.toMatch(/[\u0000-\u001f]/);
});

test('traces a failed connection', async () => {
  const lines: string[] = [];
  const api = apiFor(await closedPort(), { trace: (line) => void lines.push(line) });
  await failureOf(api.users.me());
  expect(lines.filter((line) => line.startsWith('!'))).toEqual(
    Array(3).fill('! connection refused'),
  );
});
