import { beforeEach, describe, expect, test } from 'vitest';
import {
  createSandboxWorld,
  createWorld,
  type SandboxWorld,
  type World,
} from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import type { Answer } from '../../support/service.ts';
import { ok } from '../../support/service.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';

const missing: Answer = {
  status: 404,
  body: { statusCode: 404, message: 'Instance not found', error: 'Not Found' },
};

describe('instances get', () => {
  let world: SandboxWorld;
  beforeEach(async () => {
    world = await createSandboxWorld();
  });

  test('finds an instance by its name, ID and ID prefix', async () => {
    const id = (
      await world.cli(['instances', 'create', 'trainer', ...HARDWARE, '-q'])
    ).stdout.trim();
    for (const typed of ['trainer', id, id.slice(0, 8), id.slice(0, 13)]) {
      const { stdout } = await world.cli(['instances', 'get', typed, '-q']);
      expect(stdout).toBe(`${id}\n`);
    }
  });

  test('masks generated secrets, and shows them with --show-secrets', async () => {
    await world.cli([
      ...['instances', 'create', 'lab', ...HARDWARE, '--template', 'jupyterlab', '--wait'],
    ]);
    const secrets = async (...flags: string[]) => {
      const { stdout } = await world.cli(['instances', 'get', 'lab', '--json', ...flags]);
      return {
        all: stdout,
        values: Object.values(JSON.parse(stdout).connection_info.secrets) as string[],
      };
    };
    const masked = await secrets();
    expect(new Set(masked.values)).toEqual(new Set(['********']));
    const shown = await secrets('--show-secrets');
    expect(shown.values[0]).toMatch(/^[0-9a-f]{16,}$/);
    expect(masked.all).not.toContain(shown.values[0]);
    const people = await world.cli(['instances', 'get', 'lab']);
    expect(people.stdout).toContain('Endpoints');
    expect(people.stdout).not.toContain(shown.values[0]);
  });

  test.each(['..', 'a/b', 'a?b', '', '.', 'a#b', 'a b', '%2e%2e'])(
    'rejects INSTANCE %j before any request',
    async (typed) => {
      const { code, stdout, requests } = await world.cli(['instances', 'get', typed]);
      expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
    },
  );
});

describe('an unexpected response', () => {
  let world: World;

  test('prints unknown fields and statuses of an instance', async () => {
    const data = {
      id: ID,
      status: 'HIBERNATING',
      name: 'odd\u001b[31m\u202e',
      price_per_hour_snapshot: '0.30000000000000000000000000001',
      connection_info: { type: 'new', endpoints: { a: [1] }, secrets: null },
      application_template: { odd: ['x'] },
      storage_drive: 7,
      docker_config: { image: 'i', deep: { er: true } },
      brand_new: { x: [null] },
      failure_reason: null,
      ssh_keys: null,
    };
    world = await createWorld({ handler: () => ok(data) });
    const json = await world.cli(['instances', 'get', ID, '--json']);
    expect(JSON.parse(json.stdout)).toEqual({ ...data, cost_estimate: null, ends_at: null });
    expect(json.stdout).not.toMatch(/[\u001b\u202e]/);
    const people = await world.cli(['instances', 'get', ID]);
    expect(people.stdout).not.toMatch(/[\u001b\u202e]/);
  });

  test.each([
    [{ name: 'vLLM', slug: 'vllm', id: 't1' }, 'vLLM'],
    [{ name: null, slug: 'vllm', id: 't1' }, 'vllm'],
    [{ id: 't1' }, 't1'],
  ])('names the template %j', async (application_template, shown) => {
    const data = { id: ID, status: 'ACTIVE', name: 'box', application_template };
    world = await createWorld({ handler: () => ok(data) });
    const { stdout } = await world.cli(['instances', 'get', ID]);
    expect(stdout).toMatch(new RegExp(`^Template: +${shown}$`, 'm'));
  });

  test('prints docker_config in Docker notation for people, and unchanged as JSON', async () => {
    const docker_config = {
      image: 'nginx',
      ports: [
        {
          internal_port: 80,
          external_port: 8080,
          protocol: 'TCP',
          name: 'web\u001b[31m',
          is_main: true,
        },
        { internal_port: 53, external_port: 5353, protocol: 'UDP' },
        { internal_port: 22, external_port: 2222 },
        { internal_port: '80', odd: true },
      ],
      env: [{ key: 'MODE', value: 'fast' }],
      volumes: [{ host_path: '/data', container_path: '/mnt' }],
      extra: [{ a: 1 }],
      nothing: null,
    };
    world = await createWorld({ handler: () => ok({ id: ID, status: 'ACTIVE', docker_config }) });
    await world.cli(['instances', 'get', ID, '--show-secrets']);
    expect((await world.cli(['instances', 'get', ID])).stdout).toContain('MODE=********');
    const json = await world.cli(['instances', 'get', ID, '--json', '--show-secrets']);
    expect(JSON.parse(json.stdout).docker_config).toEqual(docker_config);
  });
});

describe('instances list', () => {
  let world: World;

  test('prints an empty array and a note if nothing is known', async () => {
    world = await createWorld({ handler: () => ok([]) });
    await world.cli(['instances', 'list', '--json']);
    const people = await world.cli(['instances', 'list']);
    expect(people.stderr).toContain(
      'No instances known to this computer. "gpucloud audit" looks for others',
    );
  });

  test('adds an instance attached to a drive, and shows GONE for an unknown ID', async () => {
    let present = true;
    world = await createWorld({
      handler: ({ path }) => {
        if (path === '/storage/drives')
          return ok([{ id: 'd1', current_instance_id: present ? ID : null }]);
        return present
          ? ok({ id: ID, name: 'found', status: 'ACTIVE', price_per_hour_snapshot: '10.00' })
          : missing;
      },
    });
    await world.cli(['instances', 'list']);
    present = false;
    const second = await world.cli(['instances', 'list', '--json']);
    expect(JSON.parse(second.stdout)).toMatchObject([
      { id: ID, name: 'found', status: 'GONE', price_per_hour_snapshot: '10.00' },
    ]);
  });

  describe('with a partial read', () => {
    const SEEN = {
      id: ID,
      name: 'trainer',
      status: 'ACTIVE',
      price_per_hour_snapshot: '89.90',
      ip_address: '192.0.2.7',
      ssh_username: 'ubuntu',
      ssh_port: 2222,
      offer: { id: 'o1', name: 'RTX 4090' },
      created_at: '2026-01-15T11:00:00.000Z',
      started_at: '2026-01-15T11:01:00.000Z',
      updated_at: '2026-01-15T11:02:00.000Z',
      paid_until: '2026-01-15T13:01:00.000Z',
      last_billed_at: '2026-01-15T12:01:00.000Z',
    };
    const fault = { status: 422, body: { message: 'no' } };
    let broken: (path: string) => boolean;

    beforeEach(async () => {
      broken = () => false;
      world = await createWorld({
        handler({ path }) {
          if (broken(path)) return fault;
          if (path === '/storage/drives') {
            return ok([
              { id: 'd1', current_instance_id: ID },
              { id: 'd2', current_instance_id: 'other' },
            ]);
          }
          return ok(path.endsWith(ID) ? SEEN : { id: 'other', name: 'other', status: 'ACTIVE' });
        },
      });
      await world.cli(['instances', 'list']);
      broken = (path) => path.endsWith(ID);
    });

    test('adds an unread column in csv, and a note in the table', async () => {
      const csv = await world.cli(['instances', 'list', '-o', 'csv']);
      expect(csv.stdout).toBe(
        'name,id,status,offer,price_per_hour_snapshot,ip_address,paid_until,unread\n' +
          `trainer,${ID},ACTIVE,RTX 4090,89.90,192.0.2.7,2026-01-15T13:01:00.000Z,true\n` +
          'other,other,ACTIVE,,,,,false\n',
      );
      const { stdout } = await world.cli(['instances', 'list']);
      expect(stdout).not.toContain('UNREAD');
    });

    test("exits with 1 if the drives can't be read", async () => {
      broken = (path) => path === '/storage/drives';
      const { code, stdout } = await world.cli(['instances', 'list', '-q']);
      expect({ code, stdout }).toEqual({ code: 1, stdout: `${ID}\nother\n` });
    });
  });

  test("lists an account's instances for each of its keys, and for no other account", async () => {
    world = await createWorld({
      handler: ({ path, headers }) => {
        const isOther = headers['x-api-key'] === 'svc_sk_other';
        if (path === '/storage/drives') return ok([]);
        if (path === '/users/me') return ok({ id: isOther ? 'user-2' : 'user-1' });
        return isOther ? missing : ok({ id: ID, name: 'trainer', status: 'ACTIVE' });
      },
    });
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    const listed = async (GPUCLOUD_API_KEY?: string) =>
      world.cli(
        ['instances', 'list', '-q'],
        GPUCLOUD_API_KEY === undefined ? {} : { env: { GPUCLOUD_API_KEY } },
      );
    expect((await listed('svc_sk_other')).stdout).toBe('');
    expect((await listed()).stdout).toBe(`${ID}\n`);
    expect((await listed('svc_sk_other')).stdout).toBe('');
    expect((await listed('svc_sk_second')).stdout).toBe(`${ID}\n`);
    const again = await listed('svc_sk_second');
    expect(again.requests.map(({ path }) => path)).not.toContain('/users/me');
  });
});

describe('instances events', () => {
  let world: SandboxWorld;
  beforeEach(async () => {
    world = await createSandboxWorld();
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE, '--wait']);
    await world.sandbox.advance(150 * 3_600_000);
  });

  test('prints the given page, and the flags for more', async () => {
    const { stdout, requests } = await world.cli([
      ...['instances', 'events', 'trainer', '--limit', '3', '--page', '2'],
    ]);
    expect(requests[0]?.path).toMatch(/\/events\?page=2&limit=3$/);
    expect(stdout.trim().split('\n')).toHaveLength(4);
  });

  test('warns in JSON about further pages, and reports a page past the end', async () => {
    await world.cli(['instances', 'events', 'trainer', '--json']);
    await world.cli(['instances', 'events', 'trainer', '--json', '--page', '1']);
    const past = await world.cli(['instances', 'events', 'trainer', '--page', '9999']);
    expect(past.stderr).toMatch(/^Page 9999 is past the end\.\n$/);
  });

  test.each([[['--limit', '0']], [['--page', '1.5']], [['--all', '--page', '2']]])(
    'rejects instances events %j before any request',
    async (flags) => {
      const { code, requests } = await world.cli([...['instances', 'events', 'trainer', ...flags]]);
      expect({ code, requests }).toEqual({ code: 2, requests: [] });
    },
  );
});
