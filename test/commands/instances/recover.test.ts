import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { CliError } from '../../../src/errors.ts';
import { openJournal } from '../../../src/journal/index.ts';
import { NEW, no, ok, RentingService } from '../../support/renting-service.ts';
import { createWorld, TEST_KEY, type World, type WorldOptions } from '../../support/run-cli.ts';
import { HARDWARE, OFFER } from '../../support/sandbox-ids.ts';
import type { RecordedRequest } from '../../support/service.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const CREATE = ['instances', 'create', 'trainer', ...HARDWARE];

let world: World;
let service: RentingService;
afterEach(() => world.close());

async function begin(options: Partial<WorldOptions> = {}): Promise<void> {
  service = new RentingService();
  world = await createWorld({ handler: service.handler, ...options });
}

/** A creation whose answer is lost, with or without a machine made. */
async function lose(made: boolean, argv: readonly string[] = CREATE): Promise<void> {
  service.posts.push(({ body }) => {
    if (made) service.rent(ID, (body as { instance_name: string }).instance_name);
    return 'hangUp';
  });
  expect((await world.cli(argv)).code).toBe(7);
}

const posts = (requests: readonly RecordedRequest[]) =>
  requests.filter(({ method }) => method === 'POST');
const listed = async (...flags: string[]) =>
  JSON.parse((await world.cli(['instances', 'list', '--json', ...flags])).stdout);

const WARNING =
  'warning: 1 request has an unknown outcome, and what was asked for may be billing. Settle it: gpucloud instances recover\n';

describe('while an outcome is unknown', () => {
  test('every command that speaks to the service says so in one line, and help does not', async () => {
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
      ['instances', 'export'],
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
    // Nobody knows yet whether both keys are of one account.
    expect(stranger.stderr).toContain('(1 of another key, perhaps of another account)');
  });

  test('a command that needs no key fetches none for it: that may ask for a passphrase', async () => {
    await begin({ signedIn: false });
    const fetched = join(world.home, 'fetched');
    const profile = {
      base_url: world.service.url,
      key_command: ['/bin/sh', '-c', `echo x >> '${fetched}'; echo '${TEST_KEY}'`],
      account: { id: 'user-1' },
    };
    await mkdir(join(world.home, 'config'), { recursive: true });
    const config = { version: 1, current: 'work', profiles: { work: profile } };
    await writeFile(join(world.home, 'config', 'config.json'), JSON.stringify(config));
    await lose(false);
    await rm(fetched);
    const { code, stderr } = await world.cli(['profiles', 'list']);
    expect(code).toBe(0);
    expect(stderr).toBe(WARNING);
    await expect(readFile(fetched)).rejects.toThrow('ENOENT');
    expect((await world.cli(['drives', 'list'])).stderr).toContain(WARNING);
    expect(await readFile(fetched, 'utf8')).toBe('x\n');
  });

  test('the error names both commands and says that it may be billing', async () => {
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
  test('has nothing to do when every outcome is known', async () => {
    await begin();
    const { code, stdout, stderr } = await world.cli(['instances', 'recover']);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: 'The outcome of every request is known.\n',
    });
  });

  test('finds the machine through the drive that was given to it', async () => {
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

  test('a machine of another name at a drive is not it', async () => {
    await begin();
    await lose(false);
    service.rent(ID, 'other');
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    const { code, stdout } = await world.cli(['instances', 'recover', '--json']);
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject([{ outcome: 'unknown', id: null }]);
  });

  test('reads an id that stood in an answer which could not be trusted', async () => {
    await begin();
    service.posts.push(() => {
      service.rent(ID, 'trainer');
      return { status: 502, body: JSON.stringify({ data: { id: ID } }) };
    });
    expect((await world.cli(CREATE)).code).toBe(7);
    const { code, stdout } = await world.cli(['instances', 'recover', '-q']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${ID}\n` });
  });

  test('says where to look, when nothing is certain and nobody can be asked', async () => {
    await begin();
    await lose(true);
    const { code, stdout, stderr, requests } = await world.cli(['instances', 'recover']);
    expect(code).toBe(7);
    expect(posts(requests)).toEqual([]);
    expect(stdout).toContain('UNKNOWN');
    expect(stderr).toBe(
      `error: Unknown as before, and maybe billing: trainer (offer ${OFFER}, asked for at 2026-01-15T12:00:00.000Z). Look for it in the service's web console.\n` +
        'hint: if it is there: gpucloud instances track ID; if it is not: gpucloud instances untrack trainer\n',
    );
  });

  test('--retry sends the very same request, and tells what a success proves', async () => {
    await begin();
    const container = ['--docker-image', 'nginx', '-p', '80:80'];
    await lose(false, [...CREATE, ...container]);
    const { code, stdout, requests } = await world.cli([
      'instances',
      'recover',
      '--retry',
      '--json',
    ]);
    expect(code).toBe(0);
    expect(posts(requests)).toHaveLength(1);
    expect(posts(requests)[0]?.body).toEqual(
      world.service.requests.find(({ method }) => method === 'POST')?.body,
    );
    expect(JSON.parse(stdout)).toMatchObject([{ outcome: 'replaced', id: NEW }]);
    expect(JSON.parse(stdout)[0].note).toContain('it was never made, or has ended');
    expect(await listed()).toMatchObject([{ id: NEW, name: 'trainer' }]);
  });

  test('--retry that is refused keeps it UNKNOWN and says why', async () => {
    await begin();
    await lose(true);
    service.posts.push(() => no(409, 'name is taken'));
    const { code, stdout } = await world.cli(['instances', 'recover', '--retry', '--json']);
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject([
      {
        outcome: 'unknown',
        may_be_billing: true,
        note: expect.stringContaining('refused, as it is when the machine exists'),
      },
    ]);
    expect(await listed()).toMatchObject([{ id: null, status: 'UNKNOWN' }]);
  });

  test('--retry whose own answer is lost leaves both, and a machine found settles both', async () => {
    await begin();
    await lose(false);
    service.posts.push(() => {
      service.rent(ID, 'trainer');
      return 'hangUp';
    });
    expect((await world.cli(['instances', 'recover', '--retry'])).code).toBe(7);
    expect(await listed()).toHaveLength(2);
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    const { code, stdout } = await world.cli(['instances', 'recover', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { outcome: 'replaced', note: expect.stringContaining(`held by ${ID}`) },
      { outcome: 'rented', id: ID },
    ]);
  });

  test('in a terminal it asks, and No is the default', async () => {
    await begin();
    await lose(false);
    const asked = await world.cli(['instances', 'recover'], { terminal: true, stdin: '\r' });
    expect(asked.code).toBe(7);
    expect(asked.stderr).toContain('make the same request again?');
    expect(posts(asked.requests)).toEqual([]);
    const yes = await world.cli(['instances', 'recover'], { terminal: true, stdin: 'y\r' });
    expect(yes.code).toBe(0);
    expect(posts(yes.requests)).toHaveLength(1);
  });

  test('a request with secrets is not sent again, and says how to do it', async () => {
    await begin();
    await lose(false, [...CREATE, '--docker-image', 'i', '-e', 'TOKEN=hunter2']);
    const { code, stdout, requests } = await world.cli([
      'instances',
      'recover',
      '--retry',
      '--json',
    ]);
    expect(code).toBe(7);
    expect(posts(requests)).toEqual([]);
    expect(JSON.parse(stdout)[0].note).toContain('gpucloud instances create trainer');
  });

  test('a reorder is never asked for again: its new name need not be unique', async () => {
    await begin();
    service.rent(ID, 'old', { status: 'TERMINATED' });
    service.posts.push(() => 'hangUp');
    expect((await world.cli(['instances', 'reorder', ID, 'fresh'])).code).toBe(7);
    const { code, stdout, requests } = await world.cli([
      'instances',
      'recover',
      '--retry',
      '--json',
    ]);
    expect(code).toBe(7);
    expect(posts(requests)).toEqual([]);
    expect(stdout).toContain('could rent a second machine');
    const list = await world.cli(['instances', 'list', '--json']);
    expect(JSON.parse(list.stdout)).toContainEqual(
      expect.objectContaining({ id: null, name: 'fresh', status: 'UNKNOWN' }),
    );
  });

  test('a namesake that is over, or older than the request, settles nothing', async () => {
    await begin();
    service.rent(ID, 'trainer', { status: 'TERMINATED' });
    expect((await world.cli(['instances', 'track', ID])).code).toBe(0);
    await lose(false);
    expect((await world.cli(['instances', 'recover'])).code).toBe(7);
    const list = await world.cli(['instances', 'list', '--json']);
    expect(JSON.parse(list.stdout)).toContainEqual(expect.objectContaining({ status: 'UNKNOWN' }));
  });

  test('a name that no open request has is exit 3', async () => {
    await begin();
    await lose(false);
    const { code, stderr } = await world.cli(['instances', 'recover', 'nobody']);
    expect(code).toBe(3);
    expect(stderr).toContain('these have: trainer');
  });

  test('a service that can not be reached settles nothing', async () => {
    await begin();
    await lose(false);
    await world.service.close();
    expect((await world.cli(['instances', 'recover', '--retry'])).code).toBe(6);
  });
});

describe('what can not be read', () => {
  test('the list of drives: the rest is looked at all the same, and nothing is asked again', async () => {
    await begin();
    service.posts.push(() => {
      service.rent(ID, 'trainer');
      return { status: 502, body: JSON.stringify({ data: { id: ID } }) };
    });
    expect((await world.cli(CREATE)).code).toBe(7);
    world.clock.advance(1000);
    await lose(false, ['instances', 'create', 'lost-box', ...HARDWARE]);
    service.failing.add('/storage/drives');
    const argv = ['instances', 'recover', '--retry', '--json'];
    const { code, stdout, stderr, requests } = await world.cli(argv);
    expect(code).toBe(7);
    expect(posts(requests)).toEqual([]);
    expect(JSON.parse(stdout)).toMatchObject([
      { name: 'trainer', outcome: 'rented', id: ID },
      {
        name: 'lost-box',
        outcome: 'unknown',
        note: expect.stringContaining('not all could be read'),
      },
    ]);
    expect(stderr).toContain('The list of drives could not be read, so it settles nothing now');
    service.failing.clear();
    expect((await world.cli(argv)).code).toBe(0);
  });

  test('the account: what may be missing is said by list, and recover is not done', async () => {
    await begin();
    service.posts.push(() => ok(service.rent(ID, 'trainer'), 201));
    await world.cli(CREATE, { env: { GPUCLOUD_API_KEY: 'svc_sk_first' } });
    await world.cli(['instances', 'list'], { env: { GPUCLOUD_API_KEY: 'svc_sk_first' } });
    service.failing.add('/users/me');
    const list = await world.cli(['instances', 'list', '--json']);
    expect(list).toMatchObject({ code: 0, stdout: '[]\n' });
    expect(list.stderr).toContain('rented here with another key may be missing');
    expect((await world.cli(['instances', 'recover'])).code).toBe(7);
    service.failing.clear();
    expect(await listed()).toMatchObject([{ id: ID }]);
    expect((await world.cli(['instances', 'recover'])).code).toBe(0);
  });

  test('the account of a computer that has one key: nothing can be missing', async () => {
    await begin();
    service.failing.add('/users/me');
    expect(await world.cli(['instances', 'list', '--json'])).toMatchObject({ code: 0, stderr: '' });
    expect((await world.cli(['instances', 'recover'])).code).toBe(0);
  });

  test('whose keys are whose: exit 9 for a list, and nothing is rented', async () => {
    await begin();
    await world.cli(CREATE);
    await world.cli(['instances', 'list']);
    const accounts = join(world.home, 'state', 'rentals', 'accounts');
    await rename(accounts, `${accounts}.was`);
    await writeFile(accounts, 'no folder');
    for (const argv of [['instances', 'list'], ['instances', 'recover'], CREATE]) {
      const { code, requests } = await world.cli(argv);
      expect({ code, posts: posts(requests) }).toEqual({ code: 9, posts: [] });
    }
  });

  test('a torn file of a machine: its name tells the id, which is read anew', async () => {
    await begin();
    await world.cli(CREATE);
    const root = join(world.home, 'state', 'rentals');
    const name = (await readdir(root, { recursive: true })).find((one) =>
      one.endsWith(`machines/${NEW}.json`),
    );
    for (const torn of ['', '{"version":1,"id":"', 'null']) {
      await writeFile(join(root, name ?? ''), torn);
      const { code, stdout, stderr } = await world.cli(['instances', 'list', '--json']);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject([{ id: NEW, name: 'trainer' }]);
      expect(stderr).toContain("can't be understood and was left as it is");
      expect(await world.cli(['instances', 'list'])).toMatchObject({ stderr: '' });
    }
    const kept = (await readdir(root, { recursive: true })).filter((one) =>
      one.endsWith('.spoilt'),
    );
    expect(kept).toHaveLength(3);
  });
});

describe('a machine of the archive that a drive names', () => {
  test('is read again: a wrong word of the service hides it no longer than that', async () => {
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

describe('a name whose machine has no known id', () => {
  test('is not taken for a namesake that is over', async () => {
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
      expect(stderr).toContain(`Of that name is known: ${ID} (TERMINATED).`);
      expect(stderr).toContain('gpucloud instances recover');
    }
    expect((await world.cli(['instances', 'get', ID])).code).toBe(0);
  });

  test('is no id that the service does not find', async () => {
    await begin();
    await lose(true);
    const { code, requests } = await world.cli(['instances', 'terminate', 'trainer', '--yes']);
    expect({ code, requests }).toEqual({ code: 7, requests: [] });
  });
});

describe('a request whose process still runs', () => {
  test('is a row of the list, and UNKNOWN after an hour, though its process stands still', async () => {
    await begin();
    const journal = openJournal({
      folder: join(world.home, 'state', 'rentals'),
      scope: { service: world.service.url, apiKey: TEST_KEY },
      clock: world.clock,
      pid: process.pid,
      isAlive: () => true,
    });
    const intent = await journal.intend({ operation: 'create', name: 'trainer', offer_id: null });
    const isAlive = (pid: number) => pid === process.pid;
    const statuses = async () => {
      const { stdout } = await world.cli(['instances', 'list', '--json'], { isAlive });
      return JSON.parse(stdout);
    };
    expect(await statuses()).toMatchObject([
      { id: null, name: 'trainer', status: 'IN_FLIGHT', may_be_billing: true },
    ]);
    expect((await world.cli(['drives', 'list'], { isAlive })).stderr).not.toContain('unknown');
    const named = await world.cli(['instances', 'terminate', 'trainer', '--yes'], { isAlive });
    expect({ code: named.code, requests: named.requests }).toEqual({ code: 7, requests: [] });
    expect(named.stderr).toContain('its process still waits for the answer');
    world.clock.advance(3_600_000);
    expect(await statuses()).toMatchObject([{ name: 'trainer', status: 'UNKNOWN' }]);
    await intent.close();
  });
});

describe('drives and API keys whose creation was cut', () => {
  const lost = async (operation: 'drive' | 'api_key') => {
    const journal = openJournal({
      folder: join(world.home, 'state', 'rentals'),
      scope: { service: world.service.url, apiKey: TEST_KEY },
      clock: world.clock,
      pid: 1,
      isAlive: () => false,
    });
    const body = { name: 'data', size_gb: 5 };
    const intent = await journal.intend({ operation, name: 'data', offer_id: null, body });
    await intent.close();
  };
  const made = { id: 'd1', name: 'data', size_gb: 5, created_at: '2026-01-15T12:00:01.000Z' };

  test('are settled by the lists of the service', async () => {
    await begin();
    await lost('drive');
    service.drives = [{ ...made, current_instance_id: null }];
    const { code, stdout } = await world.cli(['instances', 'recover', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { operation: 'drive', outcome: 'rented', id: 'd1', note: 'the drive is there, d1' },
    ]);
    expect(await listed('--all')).toEqual([]);
  });

  test('were not made when no list has them and the request is over', async () => {
    await begin();
    await lost('drive');
    expect((await world.cli(['instances', 'recover'])).code).toBe(7);
    expect(await listed()).toEqual([]);
    world.clock.advance(121_000);
    const { code, stdout } = await world.cli(['instances', 'recover', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ outcome: 'not_made', may_be_billing: false }]);
  });

  test('an older drive of the same name is not the one, nor is one of two', async () => {
    await begin();
    await lost('drive');
    service.drives = [
      { ...made, id: 'd1', current_instance_id: null },
      { ...made, id: 'd2', current_instance_id: null },
    ];
    expect((await world.cli(['instances', 'recover'])).code).toBe(7);
  });
});

describe('machines of a key that is not used any more', () => {
  test('are found when one can be read with another key, and are nobody else’s', async () => {
    await begin();
    service.posts.push(() => ok(service.rent(ID, 'trainer'), 201));
    await world.cli(CREATE, { env: { GPUCLOUD_API_KEY: 'svc_sk_retired' } });
    const first = await world.cli(['instances', 'list', '-q']);
    expect(first.stdout).toBe(`${ID}\n`);
    expect(first.stderr).toContain('rented with another key of this account');
    const second = await world.cli(['instances', 'list', '-q']);
    expect(second).toMatchObject({ stdout: `${ID}\n`, stderr: '' });
  });

  test('stay away when they can not be read; recover tells of open requests', async () => {
    await begin();
    const env = { GPUCLOUD_API_KEY: 'svc_sk_retired' };
    service.posts.push(
      () => ok({ id: ID, name: 'trainer', status: 'PROVISIONING' }, 201),
      () => 'hangUp',
    );
    await world.cli(CREATE, { env });
    await world.cli(['instances', 'create', 'lost-box', ...HARDWARE], { env });
    expect((await world.cli(['instances', 'list', '--json'])).stdout).toBe('[]\n');
    const list = await world.cli(['instances', 'list']);
    expect(list.stderr).toContain('(1 of another key, perhaps of another account)');
    expect(list.stderr).toContain('1 request was made here with another key');
    const { code, stderr } = await world.cli(['instances', 'recover']);
    expect(code).toBe(7);
    expect(stderr).toContain('perhaps of another account, and has an unknown outcome (lost-box)');
    // Whoever lost that key for good is not reminded for ever.
    expect((await world.cli(['instances', 'untrack', 'lost-box', '--yes'])).code).toBe(0);
    expect((await world.cli(['instances', 'recover'])).code).toBe(0);
  });
});

describe('instances track and untrack', () => {
  test('take a machine in and settle the request that it came of', async () => {
    await begin();
    await lose(true);
    const { code, stdout, stderr } = await world.cli(['instances', 'track', ID, '-q']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${ID}\n` });
    expect(stderr).toContain(`Settled the request for trainer: it is ${ID}, PROVISIONING.`);
    expect(await listed()).toMatchObject([{ id: ID }]);
  });

  test('an id that is not found is exit 3; --force takes it all the same', async () => {
    await begin();
    expect((await world.cli(['instances', 'track', ID])).code).toBe(3);
    expect(await listed()).toEqual([]);
    expect((await world.cli(['instances', 'track', ID, '--force'])).code).toBe(0);
    expect(await listed()).toMatchObject([{ id: ID, status: 'GONE' }]);
  });

  test.each(['..', 'a/b', '', 'a?b'])('ID %j is refused before any request', async (id) => {
    await begin();
    const { code, requests } = await world.cli(['instances', 'track', id]);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
  });

  test('untrack says that this stops no billing, and --all still shows the machine', async () => {
    await begin();
    await world.cli(CREATE);
    const { code, stderr, requests } = await world.cli([
      'instances',
      'untrack',
      'trainer',
      '--yes',
    ]);
    expect({ code, requests }).toEqual({ code: 0, requests: [] });
    expect(stderr).toBe(
      `warning: trainer is out of the list, and goes on as before: if it runs it is billing. To take it back: gpucloud instances track ${NEW}. To end it: gpucloud instances terminate ${NEW}\n`,
    );
    expect(await listed()).toEqual([]);
    expect(await listed('--all')).toMatchObject([{ id: NEW }]);
    await world.cli(['instances', 'track', NEW]);
    expect(await listed()).toMatchObject([{ id: NEW }]);
  });

  test('untrack of a machine that may bill wants --yes off a terminal, also with others', async () => {
    await begin();
    await world.cli(CREATE);
    service.rent(ID, 'old-box', { status: 'TERMINATED' });
    await world.cli(['instances', 'track', ID]);
    for (const [argv, stdin] of [
      [['trainer'], ''],
      [['old-box', 'trainer'], ''],
      [['-'], `${ID}\n${NEW}\n`],
    ] as const) {
      const refused = await world.cli(['instances', 'untrack', ...argv], { stdin });
      expect({ ...refused, stderr: '' }).toEqual({ code: 2, stdout: '', stderr: '', requests: [] });
      expect(refused.stderr).toMatch(
        new RegExp(
          `^error: this needs a confirmation and nobody can be asked here: add --yes \\(Take trainer \\(${NEW}, last seen PROVISIONING now\\) out of the list\\? What is there goes on and bills, and nothing here will say so any more\\.\\)\n$`,
        ),
      );
    }
    expect(await listed()).toMatchObject([{ id: NEW }]);
  });

  test('in a terminal the answer decides, and Enter leaves it where it is', async () => {
    await begin();
    await world.cli(CREATE);
    const kept = await world.cli(['instances', 'untrack', 'trainer'], {
      terminal: true,
      stdin: '\n',
    });
    expect(kept.code).toBe(130);
    expect(kept.stderr).toContain(`trainer (${NEW}, last seen PROVISIONING now).\n`);
    expect(kept.stderr).toContain('Take trainer out of the list?');
    expect(await listed()).toMatchObject([{ id: NEW }]);
    const out = await world.cli(['instances', 'untrack', 'trainer'], {
      terminal: true,
      stdin: 'y\n',
    });
    expect(out.code).toBe(0);
    expect(await listed()).toEqual([]);
  });

  test('untrack asks nothing of a machine that was last seen TERMINATED, or that is out already', async () => {
    await begin();
    service.rent(ID, 'old-box', { status: 'TERMINATED' });
    await world.cli(['instances', 'track', ID]);
    const over = await world.cli(['instances', 'untrack', 'old-box', '-q']);
    expect(over).toMatchObject({ code: 0, stdout: `${ID}\n` });
    expect(over.stderr).toBe(
      `old-box is out of the list; it was TERMINATED when last seen. To take it back: gpucloud instances track ${ID}\n`,
    );
    await world.cli(CREATE);
    await world.cli(['instances', 'untrack', 'trainer', '--yes']);
    expect((await world.cli(['instances', 'untrack', 'trainer'])).code).toBe(0);
  });

  test('untrack forgets an UNKNOWN only when it is confirmed', async () => {
    await begin();
    await lose(false);
    expect((await world.cli(['instances', 'untrack', 'trainer'])).code).toBe(2);
    expect(await listed()).toHaveLength(1);
    expect((await world.cli(['instances', 'untrack', 'trainer', '--yes'])).code).toBe(0);
    expect(await listed()).toEqual([]);
    expect((await world.cli(['instances', 'untrack', 'nobody'])).code).toBe(3);
  });
});

describe('interrupts of a creation', () => {
  const stop = (controller: AbortController) =>
    controller.abort(new CliError('interrupted', 'Interrupted.'));
  const outcomes = async () => {
    const root = join(world.home, 'state', 'rentals');
    const names = (await readdir(root, { recursive: true })).filter((name) =>
      /(open|settled)\/.*\.json$/.test(name),
    );
    const texts = await Promise.all(names.map((name) => readFile(join(root, name), 'utf8')));
    return texts.map((text) => JSON.parse(text.split('\n')[1]?.trim() || '{}').kind);
  };

  test('before anything is sent: nothing was created', async () => {
    await begin();
    const [first, second] = [new AbortController(), new AbortController()];
    stop(first);
    const { code, stderr, requests } = await world.cli(CREATE, {
      interrupts: { first: first.signal, second: second.signal },
    });
    expect({ code, requests }).toEqual({ code: 130, requests: [] });
    expect(stderr).toContain('Interrupted. Nothing was sent, so nothing was created.');
    expect(await outcomes()).toEqual(['not_sent']);
  });

  test('once in flight the first waits for the answer and says what was rented', async () => {
    await begin();
    const [first, second] = [new AbortController(), new AbortController()];
    service.posts.push(async () => {
      stop(first);
      await new Promise((resolve) => setTimeout(resolve, 20));
      return ok(service.rent(ID, 'trainer'), 201);
    });
    const { code, stdout, stderr } = await world.cli([...CREATE, '-q'], {
      interrupts: { first: first.signal, second: second.signal },
    });
    expect({ code, stdout }).toEqual({ code: 130, stdout: `${ID}\n` });
    expect(stderr).toContain('Waiting for the answer: the machine trainer may be there already');
    expect(stderr).toContain(`(${ID}) was rented all the same, and is billing.`);
    expect(stderr).toContain(`gpucloud instances terminate ${ID}`);
    expect(await outcomes()).toEqual(['rented']);
  });

  test('once in flight the second leaves it unknown', async () => {
    await begin();
    const [first, second] = [new AbortController(), new AbortController()];
    service.posts.push(async () => {
      stop(first);
      stop(second);
      await new Promise((resolve) => setTimeout(resolve, 20));
      return 'hangUp' as const;
    });
    const { code, stdout, stderr } = await world.cli([...CREATE, '--json'], {
      interrupts: { first: first.signal, second: second.signal },
    });
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error).toMatchObject({
      code: 'interrupted',
      may_be_billing: true,
      hint: expect.stringContaining('gpucloud instances recover'),
    });
    expect(await outcomes()).toEqual(['unknown']);
  });
});

describe('a journal that can not be used', () => {
  test('keeps nobody from ending a machine by its id', async () => {
    await begin();
    service.rent(ID, 'trainer');
    await mkdir(join(world.home, 'state'), { recursive: true });
    await writeFile(join(world.home, 'state', 'rentals'), 'no folder');
    const { code, stdout } = await world.cli(['instances', 'get', ID, '-q']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${ID}\n` });
    expect((await world.cli(['instances', 'list'])).code).toBe(9);
    const { code: created, requests } = await world.cli(CREATE);
    expect({ created, posts: posts(requests) }).toEqual({ created: 9, posts: [] });
  });
});
