import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, TEST_KEY, type World } from '../support/run-cli.ts';
import { ok } from '../support/service.ts';
import { sshPublicKey } from '../support/ssh-key.ts';
import { type DescribedService, describedService } from './described-service.ts';
import { type Checker, copyOfDescription, createChecker, describedChecker } from './description.ts';
import { DRIVE_ID, INSTANCE_ID, SSH_KEY_ID, samples } from './samples.ts';

interface Sent {
  readonly argv: readonly string[];
  readonly stdin?: string;
  /** The instance's status before the command. */
  readonly status?: string;
  /** The expected body of the first request. */
  readonly body?: unknown;
  readonly query?: string;
}

const HARDWARE = ['--offer', 'offer-id-1', '--image', 'image-id-1'];
const BOX = {
  offer_id: 'offer-id-1',
  image_id: 'image-id-1',
  instance_name: 'box-of-file',
  docker_config: { image: 'nginx', shm_size_gb: 0.1 },
};

/** Commands that send each documented operation, by operation ID. */
const OPERATIONS: Readonly<Record<string, readonly Sent[]>> = {
  createApiKey: [
    { argv: ['api-keys', 'create', 'ci'], body: { name: 'ci' } },
    { argv: ['api-keys', 'create', 'k'.repeat(50), '--json'], body: { name: 'k'.repeat(50) } },
  ],
  listApiKeys: [{ argv: ['api-keys', 'list'] }],
  createInstance: [
    {
      argv: ['instances', 'create', 'abc', ...HARDWARE, '--no-ssh-key'],
      body: { offer_id: 'offer-id-1', image_id: 'image-id-1', instance_name: 'abc' },
    },
    {
      argv: [
        ...['instances', 'create', `x${'-'.repeat(48)}9`, ...HARDWARE],
        ...['--ssh-key', 'laptop-sample', '--template', 'jupyter-slug'],
        ...['--drive', 'datasets-sample', '--docker-image', 'nginx:1', '--docker-command', 'run'],
        ...['--shm-size', '0.1', '-p', '1:65535/udp,name=web,main', '-p', '8080:80'],
        ...['-e', 'KEY=a=b', '-v', '/host:/inside'],
      ],
      body: {
        offer_id: 'offer-id-1',
        image_id: 'image-id-1',
        instance_name: `x${'-'.repeat(48)}9`,
        ssh_keys: [SSH_KEY_ID],
        template_id: 'template-id-1',
        storage_drive_id: DRIVE_ID,
        docker_config: {
          image: 'nginx:1',
          run_command: 'run',
          shm_size_gb: 0.1,
          ports: [
            { external_port: 1, internal_port: 65535, protocol: 'UDP', name: 'web', is_main: true },
            { external_port: 8080, internal_port: 80, protocol: 'TCP' },
          ],
          env: [{ key: 'KEY', value: 'a=b' }],
          volumes: [{ host_path: '/host', container_path: '/inside' }],
        },
      },
    },
    {
      argv: ['instances', 'create', '-f', '-', '--no-ssh-key'],
      stdin: JSON.stringify(BOX),
      body: BOX,
    },
  ],
  reorderInstance: [
    {
      argv: ['instances', 'reorder', INSTANCE_ID, 'again'],
      status: 'TERMINATED',
      body: { new_name: 'again' },
    },
  ],
  getInstance: [
    { argv: ['instances', 'get', INSTANCE_ID] },
    { argv: ['instances', 'wait', INSTANCE_ID, '--for', 'active'] },
    { argv: ['instances', 'endpoints', INSTANCE_ID] },
    { argv: ['instances', 'secrets', INSTANCE_ID] },
    { argv: ['instances', 'list'] },
  ],
  startInstance: [{ argv: ['instances', 'start', INSTANCE_ID], status: 'STOPPED' }],
  stopInstance: [{ argv: ['instances', 'stop', INSTANCE_ID, '--yes'] }],
  terminateInstance: [
    { argv: ['instances', 'terminate', INSTANCE_ID, '--yes'] },
    { argv: ['instances', 'terminate', INSTANCE_ID, '--yes', '--wait'] },
  ],
  listInstanceEvents: [
    { argv: ['instances', 'events', INSTANCE_ID] },
    {
      argv: ['instances', 'events', INSTANCE_ID, '--page', '2', '--limit', '5'],
      query: 'page=2&limit=5',
    },
    { argv: ['instances', 'events', INSTANCE_ID, '--all'], query: 'page=1&limit=100' },
  ],
  listTemplates: [
    { argv: ['templates', 'list'] },
    { argv: ['templates', 'get', 'jupyter-slug'] },
    { argv: ['templates', 'get', 'Jupyter Sample', '--markdown'] },
  ],
  createDrive: [
    {
      argv: ['drives', 'create', 'data', '--size', '2TB'],
      body: { name: 'data', size_gb: 2000 },
    },
  ],
  listDrives: [{ argv: ['drives', 'list'] }],
  getDrive: [{ argv: ['drives', 'get', DRIVE_ID] }, { argv: ['drives', 'get', 'datasets-sample'] }],
  updateDrive: [
    {
      argv: ['drives', 'update', DRIVE_ID, '--size', '500GB'],
      body: { name: 'datasets-sample', size_gb: 500 },
    },
    {
      argv: ['drives', 'update', DRIVE_ID, '--name', 'archive'],
      body: { name: 'archive', size_gb: 4401 },
    },
  ],
  resumeDrive: [{ argv: ['drives', 'resume', DRIVE_ID], body: {} }],
  addSshKey: [
    ...(['ssh-ed25519', 'ssh-rsa', 'ecdsa-sha2-nistp256'] as const).map((type) => ({
      argv: ['ssh-keys', 'add', '-'],
      stdin: `${sshPublicKey(type)} laptop\n`,
    })),
    {
      argv: ['ssh-keys', 'add', '-', '--name', 'agent', '--default'],
      stdin: sshPublicKey('ssh-ed25519'),
    },
  ],
  listSshKeys: [{ argv: ['ssh-keys', 'list'] }, { argv: ['ssh-keys', 'get', 'laptop-sample'] }],
  deleteSshKey: [{ argv: ['ssh-keys', 'delete', 'laptop-sample', '--yes'] }],
  getMe: [{ argv: ['me', 'get'] }, { argv: ['billing', 'balance'] }],
  updateMe: [{ argv: ['me', 'update', '--name', 'Anna'], body: { name: 'Anna' } }],
  updatePassword: [
    {
      argv: ['me', 'set-password', '--stdin'],
      stdin: 'the old one\nthe new one\n',
      body: { current_password: 'the old one', new_password: 'the new one' },
    },
  ],
  activatePromo: [{ argv: ['billing', 'promo', 'WELCOME'], body: { code: 'WELCOME' } }],
  listTransactions: [
    { argv: ['billing', 'transactions'] },
    {
      argv: ['billing', 'transactions', '--type', 'deposit,usage_charge', '--page', '2'],
      query: 'type=DEPOSIT,USAGE_CHARGE&page=2',
    },
    { argv: ['billing', 'transactions', '--all', '--limit', '7'], query: 'limit=7&page=1' },
    { argv: ['billing', 'transactions', '--since', '7d'], query: 'page=1&limit=100' },
  ],
};

let checker: Checker;
let service: DescribedService;
let world: World;

async function open(status?: string): Promise<void> {
  service = describedService(checker, samples(), status === undefined ? {} : { status });
  world = await createWorld({ handler: service.handler });
}

beforeAll(async () => {
  checker = await describedChecker();
});

describe('the documented operations', () => {
  test('lists a command for each of the 23 operations', async () => {
    await open();
    expect(checker.operations).toHaveLength(23);
    const told = Object.keys(OPERATIONS).filter((name) => (OPERATIONS[name] ?? []).length > 0);
    expect(told.sort()).toEqual([...checker.operations].sort());
  });

  const all = Object.entries(OPERATIONS).flatMap(([operation, commands]) =>
    commands.map((sent) => ({ operation, sent, words: sent.argv.join(' ') })),
  );
  test.each(all)('sends $operation with gpucloud $words', async ({ operation, sent }) => {
    await open(sent.status);
    const { code, stderr, requests } = await world.cli(
      sent.argv,
      sent.stdin === undefined ? {} : { stdin: sent.stdin },
    );
    expect(service.complaints, stderr).toEqual([]);
    expect(code, stderr).toBe(0);
    const at = service.seen.indexOf(operation);
    expect(at, `${operation} was not asked for`).toBeGreaterThanOrEqual(0);
    const request = requests[at];
    expect(request?.headers['x-api-key']).toBe(TEST_KEY);
    if (sent.body !== undefined) expect(request?.body).toEqual(sent.body);
    const { search } = new URL(request?.path ?? '', world.service.url);
    expect(decodeURIComponent(search)).toBe(sent.query === undefined ? '' : `?${sent.query}`);
  });
});

describe('a request that differs from the description', () => {
  beforeEach(() => open());

  const KEY = { 'x-api-key': TEST_KEY };
  const JSON_KEY = { ...KEY, 'content-type': 'application/json' };
  const instance = `/instances/${INSTANCE_ID}`;
  const TWO_CHARACTERS = '{"offer_id":"a","image_id":"b","instance_name":"ab"}';

  async function send(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ) {
    const { status } = await fetch(`${world.service.url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    return status;
  }

  // The library checks the schemas; these rows need the description's own rules.
  test.each([
    ['an unknown method', 'PUT', '/users/me', JSON_KEY, '{"name":"Anna"}'],
    ['a trailing slash', 'GET', '/users/me/', KEY, undefined],
    ['no key', 'GET', '/users/me', {}, undefined],
    ['an unknown query parameter', 'GET', '/storage/drives?page=1', KEY, undefined],
    ['an unexpected body', 'POST', `${instance}/start`, JSON_KEY, '{}'],
    ['a missing body', 'POST', '/storage/drives/abc/resume', KEY, undefined],
    ['another content type', 'POST', '/api-keys', KEY, '{"name":"ci"}'],
    ['an unknown field', 'POST', '/api-keys', JSON_KEY, '{"name":"ci","scope":"all"}'],
    ['a missing field', 'PATCH', '/storage/drives/abc', JSON_KEY, '{"size_gb":5}'],
    ['a name of two characters', 'POST', '/instances', JSON_KEY, TWO_CHARACTERS],
  ] as const)(
    'reports a request that differs from the description: %s',
    async (_what, method, path, headers, body) => {
      expect(await send(method, path, headers, body)).toBe(400);
      expect(service.complaints.length).toBeGreaterThan(0);
      expect(service.seen).toEqual([]);
    },
  );
});

describe('a response that differs from the description', () => {
  beforeEach(() => open());

  const { bonus, drives, apiKeys, createdApiKey, instance } = samples();
  const [drive] = drives;

  test.each([
    ['a missing field', 'activatePromo', ok({ added_amount: '1' })],
    ['an unknown field', 'activatePromo', ok({ ...bonus, more: 1 })],
    ['money as a number', 'activatePromo', ok({ ...bonus, new_balance: 5 })],
    ['null for a required field', 'getDrive', ok(Object.assign({}, drive, { name: null }))],
    ['an unknown status', 'getDrive', ok(Object.assign({}, drive, { status: 'FREE' }))],
    ['a secret in a list', 'listApiKeys', ok([createdApiKey])],
    ['a missing secret after a creation', 'createApiKey', ok(apiKeys[0], 201)],
    ['a drive after a reorder', 'reorderInstance', ok(instance, 201)],
    ['another envelope', 'activatePromo', { status: 200, body: bonus }],
    ['an undocumented status', 'activatePromo', ok(bonus, 201)],
    [
      'Shape A instead of B',
      'deleteSshKey',
      { status: 404, body: { statusCode: 404, message: 'x', error: 'y' } },
    ],
  ])('reports a response that differs from the description: %s', (_what, operation, answer) => {
    expect(checker.answer(operation, answer)).not.toEqual([]);
  });

  test('rejects an API description that is not valid OpenAPI', async () => {
    const spoilt = copyOfDescription();
    Object.assign(spoilt.paths ?? {}, { '/users/me': { get: { responses: 5 } } });
    await expect(createChecker(spoilt)).rejects.toThrow('not valid OpenAPI');
  });
});
