import { expect, test } from 'vitest';
import {
  apiFor,
  CREATE,
  closedPort,
  data,
  failureOf,
  ID,
  instance,
  json,
  KEY,
  scripted,
} from './harness.ts';

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

test('masks every secret in the trace, wherever the response repeats it', async () => {
  const answer = {
    ...instance('PROVISIONING'),
    name: `echo ${KEY}`,
    metadata: { token: 'meta-token-1' },
    docker_config: { env: [{ key: 'PASS', value: 'env-secret-1' }] },
    application_template: { env_vars: { TOKEN: 'template-secret-1' } },
    connection_info: {
      secrets: { jupyter: 'jupyter-token-1', nested: { list: ['nested-token-1'] } },
      endpoints: ['http://192.0.2.1/?token=jupyter-token-1'],
    },
    odd: 'env-secret-1',
    failure_reason: 'can not run serve --token command-secret-1',
  };
  const { api, lines } = await traced(data(answer, 201));
  await api.instances.create({
    ...CREATE,
    docker_config: {
      image: 'a',
      run_command: 'serve --token command-secret-1',
      env: [{ key: 'PASS', value: 'env-secret-1' }],
    },
  });
  const all = lines.join('\n');
  for (const secret of [
    KEY,
    'meta-token-1',
    'env-secret-1',
    'template-secret-1',
    'jupyter-token-1',
    'nested-token-1',
    'command-secret-1',
  ]) {
    expect(all).not.toContain(secret);
  }
  expect(all).toContain('"key":"PASS"');
  expect(all).toContain('"TOKEN":"********"');
});

test('masks new keys and passwords in the trace', async () => {
  const { api, lines } = await traced(
    json(201, { data: { id: 'k', secret_key: 'other_form_of_key' } }),
  );
  const key = await api.apiKeys.create({ name: 'ci' });
  expect(key.secret_key).toBe('other_form_of_key');
  const second = await traced(data({ id: 'user-1' }));
  await second.api.users.setPassword({ current_password: 'old-pass', new_password: 'new-pass' });
  const all = [...lines, ...second.lines].join('\n');
  expect(all).not.toMatch(/other_form_of_key|old-pass|new-pass/);
  expect(all).toContain('"current_password":"********"');
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
