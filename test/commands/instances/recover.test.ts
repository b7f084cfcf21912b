import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { NEW } from '../../support/renting-service.ts';
import { journalOf, TEST_KEY } from '../../support/run-cli.ts';
import { HARDWARE, OFFER } from '../../support/sandbox-ids.ts';
import {
  begin,
  CREATE,
  closeLost,
  ID,
  listed,
  lose,
  posts,
  service,
  WARNING,
  world,
} from './lost.ts';

afterEach(closeLost);

describe('an unknown outcome', () => {
  test('is reported in one line by every command that contacts the service, but not by help', async () => {
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
    const list = await world.cli(['instances', 'list']);
    expect(list.stderr).toBe(WARNING);
    expect(list.stdout).toMatch(/trainer +- +UNKNOWN|trainer +UNKNOWN/);
    expect(list.stdout).toContain('may be billing: gpucloud instances recover');
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
    const stranger = await world.cli(['drives', 'list'], {
      env: { GPUCLOUD_API_KEY: 'svc_sk_other' },
    });
    // It is not known yet whether both keys are of one account.
    expect(stranger.stderr).toContain(WARNING);
  });

  test('is not read by a command that needs no key, since the key may need a passphrase', async () => {
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
    const { code, stderr } = await world.cli(['profiles', 'list']);
    expect(code).toBe(0);
    expect(stderr).toBe(WARNING);
    await expect(readFile(fetched)).rejects.toThrow('ENOENT');
    expect((await world.cli(['drives', 'list'])).stderr).toContain(WARNING);
    expect(await readFile(fetched, 'utf8')).toBe('x\n');
  });

  test('names both commands in its error, which says that it may be billing', async () => {
    await begin();
    service.posts.push(() => 'hangUp');
    const { code, stderr } = await world.cli([...CREATE, '--json']);
    expect(code).toBe(7);
    const lines = stderr.trim().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '').error).toMatchObject({
      code: 'outcome_unknown',
      may_be_billing: true,
      hint: expect.stringMatching(/gpucloud instances recover.*gpucloud instances list/),
    });
  });
});

describe('instances recover', () => {
  test('reports nothing to recover if every outcome is known', async () => {
    await begin();
    const { code, stdout, stderr } = await world.cli(['instances', 'recover']);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: 'Nothing to recover.\n',
    });
  });

  test('finds the instance through its drive', async () => {
    await begin();
    service.drives = [{ id: 'd1', current_instance_id: null }];
    await lose(true, [...CREATE, '--drive', '3f0c5d9e-0000-4222-8333-444455556666']);
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    const { code, stdout, stderr, requests } = await world.cli(['instances', 'recover', '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject([
      { name: 'trainer', outcome: 'rented', id: ID, may_be_billing: true },
    ]);
    expect(posts(requests)).toEqual([]);
    expect(await listed()).toMatchObject([{ id: ID, status: 'PROVISIONING' }]);
    expect((await world.cli(['drives', 'list'])).stderr).not.toContain('unknown outcome');
  });

  test('ignores an instance of another name at a drive', async () => {
    await begin();
    await lose(false);
    service.rent(ID, 'other');
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    const { code, stdout } = await world.cli(['instances', 'recover', '--json']);
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject([{ outcome: 'unknown', id: null }]);
  });

  test("says where to look if nothing is certain and it can't ask", async () => {
    await begin();
    await lose(true);
    const { code, stdout, stderr, requests } = await world.cli(['instances', 'recover']);
    expect(code).toBe(7);
    expect(posts(requests)).toEqual([]);
    expect(stdout).toContain('UNKNOWN');
    expect(stderr).toBe(
      `error: Still unknown: trainer (offer ${OFFER}, requested at 2026-01-15T12:00:00.000Z). Look for it in the web console. It may be billing.\n` +
        'hint: if it exists: gpucloud instances track ID; otherwise: gpucloud instances untrack trainer\n',
    );
  });

  test('ignores an instance of another time or another request', async () => {
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

  test('settles one of two requests with one name by an instance', async () => {
    await begin();
    await lose(false);
    await lose(true, [...CREATE, '--yes']);
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    const { code, stdout } = await world.cli(['instances', 'recover', '--json']);
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject([
      { outcome: 'unknown', id: null },
      { outcome: 'rented', id: ID },
    ]);
  });

  test('settles two requests with one name by two instances', async () => {
    await begin();
    await lose(true);
    service.posts.push(() => {
      service.rent(NEW, 'trainer');
      return 'hangUp';
    });
    expect((await world.cli([...CREATE, '--yes'])).code).toBe(7);
    service.drives = [ID, NEW].map((id) => ({ id: `drive-${id}`, current_instance_id: id }));
    const { code, stdout } = await world.cli(['instances', 'recover', '--json']);
    expect(code).toBe(0);
    const rows: { outcome: string; id: string }[] = JSON.parse(stdout);
    expect(rows).toMatchObject([{ outcome: 'rented' }, { outcome: 'rented' }]);
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set([ID, NEW]));
  });

  test('reports an instance that costs more than the --max-price of its request', async () => {
    await begin();
    await lose(false, [...CREATE, '--max-price', '50']);
    service.rent(ID, 'trainer', { price_per_hour_snapshot: '50.01' });
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    const { code, stdout, stderr, requests } = await world.cli(['instances', 'recover', '-q']);
    expect({ code, stdout, posts: posts(requests) }).toEqual({
      code: 1,
      stdout: `${ID}\n`,
      posts: [],
    });
    expect(stderr).toBe(
      `error: trainer (${ID}) costs 50.01 ₽ per hour, over --max-price 50.00. It may still be billing.\nhint: gpucloud instances terminate trainer\n`,
    );
  });

  test('exits with 3 for a name without an open request', async () => {
    await begin();
    await lose(false);
    const { code, stderr } = await world.cli(['instances', 'recover', 'nobody']);
    expect(code).toBe(3);
    expect(stderr).toContain('these have: trainer');
  });

  test("settles nothing if the service can't be reached", async () => {
    await begin();
    await lose(false);
    await world.service.close();
    expect((await world.cli(['instances', 'recover'])).code).toBe(6);
  });
});

describe("recover and what can't be read", () => {
  test('continues without the list of drives', async () => {
    await begin();
    await lose(true);
    world.clock.advance(1000);
    await lose(false, ['instances', 'create', 'lost-box', ...HARDWARE]);
    await world.cli(['instances', 'get', ID]);
    service.failing.add('/storage/drives');
    const { code, stdout, stderr } = await world.cli(['instances', 'recover', '--json']);
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject([
      { name: 'trainer', outcome: 'rented', id: ID },
      { name: 'lost-box', outcome: 'unknown' },
    ]);
    expect(stderr).toContain('The list of drives could not be read');
  });

  test('shows the instances of every account, with a warning, if the account of a new key is unknown', async () => {
    await begin();
    await world.cli(CREATE);
    service.failing.add('/users/me');
    const env = { GPUCLOUD_API_KEY: 'svc_sk_other_0123456789' };
    const list = await world.cli(['instances', 'list', '-q'], { env });
    expect(list).toMatchObject({ code: 0, stdout: `${NEW}\n` });
    expect(list.stderr).toContain('Could not determine which account the API key belongs to');
    // Nothing is rented for an unknown account.
    const { code, requests } = await world.cli(['instances', 'create', 'lab', ...HARDWARE], {
      env,
    });
    expect({ code, posts: posts(requests) }).toEqual({ code: 1, posts: [] });
    service.failing.clear();
    expect(await world.cli(['instances', 'list', '-q'], { env })).toMatchObject({ stderr: '' });
  });

  test("reads the instance of a torn file again by the ID in the file's name", async () => {
    await begin();
    await world.cli(CREATE);
    const root = join(world.home, 'state', 'journal');
    const name = (await readdir(root, { recursive: true })).find((one) =>
      one.endsWith(`instances/${NEW}.json`),
    );
    for (const torn of ['', '{"version":1,"id":"', 'null']) {
      await writeFile(join(root, name ?? ''), torn);
      const { code, stdout, stderr } = await world.cli(['instances', 'list', '--json']);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject([{ id: NEW, name: 'trainer' }]);
      expect(stderr).toContain("Can't read the journal file");
      expect(await world.cli(['instances', 'list'])).toMatchObject({ stderr: '' });
    }
    expect(await readFile(`${join(root, name ?? '')}.unreadable`, 'utf8')).toBe('null');
  });
});

describe('an archived instance that a drive names', () => {
  test('is read again, so that a wrong response no longer hides it', async () => {
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

describe('a name whose instance has no known ID', () => {
  test('does not mean an ended instance of the same name', async () => {
    await begin();
    service.rent(ID, 'trainer', { status: 'TERMINATED' });
    await world.cli(['instances', 'track', ID]);
    await lose(true);
    for (const argv of [
      ['instances', 'terminate', 'trainer', '--yes'],
      ['instances', 'get', 'trainer'],
      ['instances', 'reorder', 'trainer', 'again'],
    ]) {
      const { code, stderr, requests } = await world.cli(argv);
      expect({ code, requests }).toEqual({ code: 7, requests: [] });
      expect(stderr).toContain(`Known with that name: ${ID} (TERMINATED).`);
      expect(stderr).toContain('gpucloud instances recover');
    }
    expect((await world.cli(['instances', 'get', ID])).code).toBe(0);
  });

  test('is not an ID that the service does not find', async () => {
    await begin();
    await lose(true);
    const { code, requests } = await world.cli(['instances', 'terminate', 'trainer', '--yes']);
    expect({ code, requests }).toEqual({ code: 7, requests: [] });
  });
});

describe('a request whose process still runs', () => {
  test('is listed, and is UNKNOWN after its timeout, even if its process hangs', async () => {
    await begin();
    const isAlive = (pid: number) => pid === process.pid;
    const journal = journalOf(world, { service: world.service.url, account: 'user-1' }, isAlive);
    const request = {
      operation: 'create',
      name: 'trainer',
      offer_id: null,
      timeout_ms: 60_000,
    } as const;
    await journal.open(request, new Set());
    const rows = async () => {
      const { stdout } = await world.cli(['instances', 'list', '--json'], { isAlive });
      return JSON.parse(stdout);
    };
    expect(await rows()).toMatchObject([
      { id: null, name: 'trainer', status: 'IN_FLIGHT', may_be_billing: true },
    ]);
    expect((await world.cli(['drives', 'list'], { isAlive })).stderr).not.toContain('unknown');
    const named = await world.cli(['instances', 'terminate', 'trainer', '--yes'], { isAlive });
    expect({ code: named.code, requests: named.requests }).toEqual({ code: 7, requests: [] });
    expect(named.stderr).toContain('its process is still waiting for the response');
    const recover = await world.cli(['instances', 'recover', 'trainer'], { isAlive });
    expect(recover).toMatchObject({ code: 7, stdout: '' });
    expect(recover.stderr).toContain('Another gpucloud process is creating trainer.');
    world.clock.advance(71_000);
    expect(await rows()).toMatchObject([{ name: 'trainer', status: 'UNKNOWN' }]);
  });
});
