import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RENTAL } from '../../support/journal.ts';
import { NEW } from '../../support/renting-service.ts';
import { journalOf, TEST_KEY } from '../../support/run-cli.ts';
import { envelope } from '../../support/service.ts';
import { errorOf } from '../../support/stderr-lines.ts';
import { begin, CREATE, ID, listed, lose, posts, service, WARNING, world } from './lost.ts';

describe('an unknown outcome', () => {
  test('reports an unknown outcome in one line in other commands, but not in help', async () => {
    await begin();
    await lose(true);
    for (const argv of [
      ['drives', 'list'],
      ['me', 'get'],
      ['ssh-keys', 'list', '-o', 'csv'],
    ]) {
      const { stderr } = await world.cli(argv);
      expect(stderr.split(WARNING)).toHaveLength(2);
    }
    await world.cli(['instances', 'list']);
    for (const argv of [
      ['profiles', 'list'],
      ['catalog', 'list'],
      ['doctor'],
      ['instances', 'list', '--json'],
      ['instances', 'untrack', 'nobody'],
    ]) {
      const { stderr } = await world.cli(argv);
      expect({ argv, told: stderr.split('may be billing').length > 1 }).toEqual({
        argv,
        told: true,
      });
    }
    expect((await world.cli(['completion', 'bash'])).stderr).toBe('');
    expect((await world.cli(['--help'])).stderr).toBe('');
    expect((await world.cli(['--version'])).stderr).toBe('');
    await world.cli(['drives', 'list'], {
      env: { GPUCLOUD_API_KEY: 'svc_sk_other' },
    });
    // gpucloud can't know yet whether both keys belong to one account.
  });

  test('prints a warning in a local command without fetching the key', async () => {
    await begin({ signedIn: false });
    const fetched = join(world.home, 'fetched');
    const profile = {
      base_url: world.service.url,
      key_command: ['/bin/sh', '-c', `echo x >> '${fetched}'; echo '${TEST_KEY}'`],
      account: { id: 'user-1' },
    };
    await mkdir(join(world.home, 'config'), { recursive: true, mode: 0o700 });
    const config = { version: 1, current: 'work', profiles: { work: profile } };
    await writeFile(join(world.home, 'config', 'config.json'), JSON.stringify(config), {
      mode: 0o600,
    });
    await lose(false);
    await rm(fetched);
    await world.cli(['profiles', 'list']);
    await expect(readFile(fetched)).rejects.toThrow('ENOENT');
    expect((await world.cli(['drives', 'list'])).stderr).toContain(WARNING);
    expect(await readFile(fetched, 'utf8')).toBe('x\n');
  });

  test('suggests recover and list after an unknown outcome of create', async () => {
    await begin();
    service.posts.push(() => 'hangUp');
    const { stderr } = await world.cli([...CREATE, '--json']);
    const lines = stderr.trim().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '').error).toMatchObject({
      code: 'outcome_unknown',
      may_be_billing: true,
      hint: expect.stringMatching(/gpucloud instances recover.*gpucloud instances list/),
    });
  });
});

describe('instances recover', () => {
  test('suggests an attached instance with the same name, but does not resolve the request', async () => {
    await begin();
    service.drives = [{ id: 'd1', current_instance_id: null }];
    await lose(true, [...CREATE, '--drive', '3f0c5d9e-0000-4222-8333-444455556666']);
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    const { stderr, requests } = await world.cli(['instances', 'recover', '--json']);
    expect(errorOf(stderr)).toMatchObject({
      hint: `if ${ID} is the instance: gpucloud instances recover trainer --yes; otherwise: gpucloud instances untrack trainer`,
    });
    expect(posts(requests)).toEqual([]);
    expect(await listed()).toContainEqual(expect.objectContaining({ status: 'UNKNOWN' }));
    // The read added the instance to the journal, but the request stays unresolved.
    expect((await world.cli(['instances', 'recover'])).code).toBe(7);
  });

  test('resolves a request with recover --yes', async () => {
    await begin();
    await lose(true);
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    await world.cli(['instances', 'recover', '--yes', '--json']);
    expect(await listed()).toMatchObject([{ id: ID, status: 'PROVISIONING' }]);
    expect((await world.cli(['drives', 'list'])).stderr).not.toContain('unknown outcome');
  });

  test('asks in a terminal whether an instance matches, with No as the default', async () => {
    await begin();
    await lose(true);
    service.rent(ID, 'trainer', { price_per_hour_snapshot: '89.90' });
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    const no = await world.cli(['instances', 'recover'], { terminal: true, stdin: '\r' });
    expect(no.code).toBe(7);
    expect(await listed()).toContainEqual(expect.objectContaining({ status: 'UNKNOWN' }));
    const yes = await world.cli(['instances', 'recover'], { terminal: true, stdin: 'y\r' });
    expect(yes.code).toBe(0);
    expect(await listed()).toMatchObject([{ id: ID, status: 'PROVISIONING' }]);
  });

  test('resolves a request with only one of two matching instances', async () => {
    await begin();
    await lose(true);
    service.rent(NEW, 'trainer', {});
    service.drives = [
      { id: 'd1', current_instance_id: ID },
      { id: 'd2', current_instance_id: NEW },
    ];
    expect((await world.cli(['instances', 'recover', '--yes', '--json'])).code).toBe(7);
    const { code, stderr } = await world.cli(['instances', 'recover'], {
      terminal: true,
      stdin: 'y\ry\r',
    });
    expect(code).toBe(0);
    expect([ID, NEW].filter((id) => stderr.includes(`trainer (${id}) is`))).toHaveLength(1);
  });

  test('keeps the request if the prompt is cancelled', async () => {
    await begin();
    await lose(true);
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    const { code } = await world.cli(['instances', 'recover'], {
      terminal: true,
      stdin: '\u0003',
    });
    expect(code).toBe(130);
    expect(await listed()).toContainEqual(expect.objectContaining({ status: 'UNKNOWN' }));
  });

  test.each([409, 504])('never uses an ID in a response with status %i', async (status) => {
    await begin();
    service.posts.push(() => {
      service.rent(ID, 'trainer');
      return { status, body: envelope({ id: ID }, status) };
    });
    await world.cli([...CREATE, '--json']);
    expect(await listed()).toMatchObject(status === 409 ? [] : [{ id: null, status: 'UNKNOWN' }]);
  });

  test('ignores an attached instance with another name', async () => {
    await begin();
    await lose(false);
    service.rent(ID, 'other');
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    await world.cli(['instances', 'recover', '--json']);
  });

  test('suggests the web console when not interactive', async () => {
    await begin();
    await lose(true);
    const { requests } = await world.cli(['instances', 'recover']);
    expect(posts(requests)).toEqual([]);
  });

  test('ignores an instance from another time or another request', async () => {
    await begin();
    service.rent(ID, 'trainer', { created_at: '2026-01-15T11:00:00.000Z', status: 'TERMINATED' });
    expect((await world.cli(['instances', 'track', ID])).code).toBe(0);
    await lose(false);
    world.clock.advance(3_600_000 * 2);
    service.rent(NEW, 'trainer', { created_at: '2026-01-15T14:00:00.000Z' });
    service.drives = [{ id: 'd1', current_instance_id: NEW }];
    expect((await world.cli(['instances', 'recover'])).code).toBe(7);
    expect(await listed()).toContainEqual(expect.objectContaining({ status: 'UNKNOWN' }));
  });

  test('ignores an instance that was known before the request', async () => {
    await begin();
    service.rent(NEW, 'trainer', { status: 'ACTIVE' });
    expect((await world.cli(['instances', 'track', NEW])).code).toBe(0);
    service.rent(NEW, 'trainer', { status: 'TERMINATED' });
    world.clock.advance(2000);
    await lose(true);
    expect((await world.cli(['instances', 'recover'])).code).toBe(7);
    expect(await listed()).toMatchObject([{ id: null, status: 'UNKNOWN' }]);
  });

  test('leaves two requests of the same name unresolved with --yes', async () => {
    await begin();
    await lose(false);
    world.clock.advance(60_000);
    await lose(true, [...CREATE, '--yes']);
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    const unsure = await world.cli(['instances', 'recover', '--yes', '--json']);
    expect({ code: unsure.code, rows: JSON.parse(unsure.stdout) }).toMatchObject({
      code: 7,
      rows: [{ candidates: [{ id: ID }] }, { candidates: [{ id: ID }] }],
    });
    const flags = { terminal: true, stdin: 'y\r' };
    const { code, stderr } = await world.cli(['instances', 'recover'], flags);
    expect(code).toBe(7);
    // Asks about the newest request first. The instance then belongs to it.
    expect(stderr.match(/✔.*Is it the instance you requested now\?/g)).toHaveLength(1);
    expect(await listed()).toMatchObject([
      { status: 'UNKNOWN', asked_at: '2026-01-15T12:00:00.000Z' },
      { id: ID },
    ]);
  });

  test.each([
    ['PROVISIONING', 1],
    ['TERMINATING', 0],
  ])(
    'exits with the code for an instance that costs more than the --max-price of its request: %s, %i',
    async (status, exit) => {
      await begin();
      await lose(false, [...CREATE, '--max-price', '50']);
      service.rent(ID, 'trainer', { price_per_hour_snapshot: '50.01', status });
      service.drives = [{ id: 'd1', current_instance_id: ID }];
      const { code, stdout, requests } = await world.cli(['instances', 'recover', '-yq']);
      expect({ code, stdout, posts: posts(requests) }).toEqual({
        code: exit,
        stdout: `${ID}\n`,
        posts: [],
      });
    },
  );

  test('exits with 3 for a name without an open request', async () => {
    await begin();
    await lose(false);
    await world.cli(['instances', 'recover', 'nobody']);
    for (const name of ['other', 'third']) {
      await lose(false, ['instances', 'create', name, ...CREATE.slice(3)]);
    }
    const { stdout } = await world.cli(['instances', 'recover', 'TRAINER', 'third', '--json']);
    const [{ uid }] = JSON.parse(stdout);
    await world.cli(['instances', 'untrack', uid, '--yes']);
    await world.cli(['instances', 'recover', '--json']);
  });

  test("exits with 6 if the service can't be reached", async () => {
    await begin();
    await lose(false);
    await world.service.close();
    expect((await world.cli(['instances', 'recover'])).code).toBe(6);
  });
});

describe('an archived instance that is attached to a drive', () => {
  test('reads an archived instance on a drive again, since its stored TERMINATED may be wrong', async () => {
    await begin();
    service.rent(ID, 'trainer', { status: 'TERMINATED' });
    await world.cli(['instances', 'track', ID]);
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    expect(await listed()).toEqual([]);
    service.rent(ID, 'trainer', { status: 'ACTIVE' });
    expect(await listed()).toMatchObject([{ id: ID, status: 'ACTIVE' }]);
    await world.cli(['instances', 'untrack', ID, '--yes']);
    expect(await listed()).toEqual([]);
  });
});

describe('the name of a request with an unknown outcome', () => {
  test("does not select a terminated instance by an unresolved request's name", async () => {
    await begin();
    service.rent(ID, 'trainer', { status: 'TERMINATED' });
    await world.cli(['instances', 'track', ID]);
    await lose(true);
    for (const argv of [
      ['instances', 'terminate', 'trainer', '--yes'],
      ['instances', 'get', 'trainer'],
      ['instances', 'reorder', 'trainer', 'again'],
    ]) {
      const { code, requests } = await world.cli(argv);
      expect({ code, requests }).toEqual({ code: 7, requests: [] });
    }
    expect((await world.cli(['instances', 'get', ID])).code).toBe(0);
  });

  test.each(['start', 'stop', 'terminate'])(
    "does not select another running instance by an unresolved request's name in %s",
    async (verb) => {
      await begin();
      await lose(false);
      service.rent(ID, 'trainer', { status: 'ACTIVE' });
      service.drives = [{ id: 'd1', current_instance_id: ID }];
      // `list` adds the attached instance to the journal.
      expect(await listed()).toHaveLength(2);
      const argv = ['instances', verb, 'trainer', '--yes', '--json'];
      const { code, stdout, requests } = await world.cli(argv);
      expect({ code, stdout, requests }).toEqual({ code: 7, stdout: '', requests: [] });
      expect((await world.cli(['instances', 'get', 'trainer', '-q'])).stdout).toBe(`${ID}\n`);
      await world.cli(['instances', verb, ID, '--yes']);
      expect(service.instances.get(ID)?.status).toBe(
        verb === 'terminate' ? 'TERMINATING' : 'ACTIVE',
      );
    },
  );

  test.each([
    ['expire', ['--after', '4h']],
    ['expire', ['--never']],
    ['reorder', ['again']],
  ])("does not select a tracked instance by a lost request's name: %s %j", async (verb, more) => {
    await begin();
    await lose(true);
    await world.cli(['instances', 'track', ID]);
    const { code, requests } = await world.cli(['instances', verb, 'trainer', ...more]);
    expect({ code, requests: posts(requests) }).toEqual({ code: 7, requests: [] });
  });

  test('never sends the name of an unresolved request as an ID', async () => {
    await begin();
    await lose(true);
    const { code, requests } = await world.cli(['instances', 'terminate', 'trainer', '--yes']);
    expect({ code, requests }).toEqual({ code: 7, requests: [] });
  });
});

describe('a request whose process still runs', () => {
  test('lists a request as IN_FLIGHT while its process runs, and as UNKNOWN after its timeout', async () => {
    await begin();
    const isAlive = (pid: number) => pid === process.pid;
    const journal = journalOf(world, { service: world.service.url, account: 'user-1' }, isAlive);
    await journal.open(RENTAL, new Set());
    const rows = async () => {
      const { stdout } = await world.cli(['instances', 'list', '--json'], { isAlive });
      return JSON.parse(stdout);
    };
    expect(await rows()).toMatchObject([
      { id: null, name: 'trainer', status: 'IN_FLIGHT', may_be_billing: true },
    ]);
    const list = ['instances', 'list', '--columns', 'name,note', '-o', 'csv', '--no-header'];
    await world.cli(list, { isAlive });
    expect((await world.cli(['drives', 'list'], { isAlive })).stderr).not.toContain('unknown');
    const named = await world.cli(['instances', 'terminate', 'trainer', '--yes'], { isAlive });
    expect({ code: named.code, requests: named.requests }).toEqual({ code: 7, requests: [] });
    await journal.open({ ...RENTAL, name: 'other' }, new Set());
    const plan = [...CREATE, '--if-not-exists', '--dry-run'];
    expect((await world.cli(plan, { isAlive })).code).toBe(7);
    const recover = await world.cli(['instances', 'recover', 'trainer'], { isAlive });
    expect(recover).toMatchObject({ code: 7, stdout: '' });
    world.clock.advance(71_000);
    expect(await rows()).toMatchObject([
      { name: 'other', status: 'UNKNOWN' },
      { name: 'trainer', status: 'UNKNOWN' },
    ]);
  });
});
