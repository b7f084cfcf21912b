import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createWorld, TEST_KEY, type World } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import { no, ok } from '../../support/service.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const COMMAND = 'serve --token command-secret-1';
const IMAGE = 'user:registry-secret-1@registry.example.com/team/image:2';
const SECRETS = /command-secret-1|registry-secret-1|template-secret-1|other-key-0001|svc_sk_test/;

const INSTANCE = {
  id: ID,
  name: 'box',
  status: 'ACTIVE',
  failure_reason: `can not run ${COMMAND}`,
  docker_config: { image: IMAGE, run_command: COMMAND, ports: [] },
  application_template: { name: 'lab', env_vars: { TOKEN: 'template-secret-1' } },
};
let status: string;
const EVENT = {
  id: 'e-1',
  type: 'INFO',
  message: 'sent other-key-0001',
  payload: { request: { headers: { 'X-API-KEY': 'other-key-0001' } } },
};
const KEYS = [{ id: 'k-1', name: `key ${TEST_KEY}`, key_prefix: TEST_KEY }];

let world: World;
beforeEach(async () => {
  status = 'ACTIVE';
  world = await createWorld({
    handler: ({ method, path }) => {
      if (method === 'POST') return no(400, `image ${IMAGE}: ${COMMAND} is refused`);
      if (path.includes('/events')) return ok([EVENT]);
      if (path === '/api-keys') return ok(KEYS);
      if (path === '/ssh-keys')
        return ok([{ id: 's-1', name: TEST_KEY, public_key: 'ssh-ed25519 A' }]);
      if (path === '/storage/drives') return ok([]);
      return ok({ ...INSTANCE, status });
    },
  });
  await world.cli(['instances', 'track', ID]);
});

const CREATE = ['instances', 'create', 'web', ...HARDWARE];
const CONTAINER = ['--docker-image', IMAGE, '--docker-command', COMMAND];

test.each([
  [['instances', 'get', ID]],
  [['instances', 'list']],
  [['instances', 'events', ID, '--columns', 'message,payload']],
  [['instances', 'events', ID, '--all']],
  [['api-keys', 'list']],
  [['ssh-keys', 'list']],
  [['api', 'GET', `/instances/${ID}`]],
  [['api', 'GET', '/api-keys', '--paginate']],
  [[...CREATE, ...CONTAINER, '--dry-run']],
])('shows no secret in %j, in any format', async (argv) => {
  for (const flags of [[], ['--json'], ['-o', 'jsonl'], ['--debug']]) {
    const { stdout, stderr } = await world.cli([...argv, ...flags]);
    expect(stdout).not.toMatch(SECRETS);
    expect(stderr).not.toMatch(SECRETS);
    expect(stdout + stderr).not.toBe('');
  }
});

test.each([[['status']], [['instances', 'wait', ID]], [['instances', 'ssh', ID, '--', 'true']]])(
  'hides the secrets of an instance in its failure reason in %j',
  async (argv) => {
    status = 'ERROR';
    for (const flags of [[], ['--json']]) {
      const { stdout, stderr } = await world.cli([...flags, ...argv]);
      expect(stdout + stderr).toContain('can not run ********');
      expect(stdout + stderr).not.toMatch(SECRETS);
    }
  },
);

test('shows the documented secrets with --show-secrets, but never the own key', async () => {
  const shown = await world.cli(['instances', 'get', ID, '--json', '--show-secrets']);
  expect(JSON.parse(shown.stdout)).toMatchObject(INSTANCE);
  const keys = await world.cli(['api-keys', 'list', '--json', '--show-secrets']);
  expect(keys.stdout).not.toContain(TEST_KEY);
});

test('hides the container of a refused request in the message, the trace and the journal', async () => {
  const { stderr } = await world.cli([...CREATE, ...CONTAINER, '--debug']);
  expect(stderr).not.toMatch(SECRETS);
  await world.cli(['ssh-keys', 'list']);
  const state = world.home;
  const files = (await readdir(state, { recursive: true })).filter((path) =>
    path.endsWith('.json'),
  );
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    expect(await readFile(join(state, file), 'utf8'), file).not.toMatch(SECRETS);
  }
});
