import { afterEach, describe, expect, it } from 'vitest';
import { createDrive } from '../../../src/commands/drives/create.ts';
import { update } from '../../../src/commands/drives/index.ts';
import { CliError } from '../../../src/errors.ts';
import {
  createSandboxWorld,
  createWorld,
  type SandboxWorld,
  type World,
} from '../../support/run-cli.ts';
import type { Answer, RecordedRequest } from '../../support/service.ts';
import { no, ok } from '../../support/service.ts';
import { errorOf } from '../../support/stderr-lines.ts';
import { atTerminal } from './at-terminal.ts';

const worlds: World[] = [];

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

async function sandboxWorld(): Promise<SandboxWorld> {
  const world = await createSandboxWorld();
  worlds.push(world);
  return world;
}

type Drive = Record<string, unknown>;

const ID = '0d000000-0000-4000-8000-000000000001';

const DRIVE: Drive = {
  id: ID,
  name: 'datasets',
  size_gb: 500,
  s3_path: 'users/1/datasets/',
  status: 'AVAILABLE',
  used_bytes: '134217728000',
  price_per_hour: '6.00',
  last_billed_at: '2026-01-15T11:00:00.000Z',
  paid_until: '2026-01-15T13:00:00.000Z',
  current_instance_id: null,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-15T11:00:00.000Z',
};

/** A service that keeps these drives and refuses what the document does not have. */
async function worldOf(...drives: Drive[]): Promise<World> {
  const world = await createWorld({
    handler: ({ method, path, body }: RecordedRequest) => {
      const [, id, verb] = /^\/storage\/drives(?:\/([^/]+)(\/resume)?)?$/.exec(path) ?? [];
      const drive = drives.find((one) => one.id === id);
      if (id === undefined) {
        return method === 'GET' ? ok(drives) : no(400, 'not here');
      }
      if (drive === undefined) return no(404, 'no such drive');
      if (method === 'GET') return ok(drive);
      if (method === 'PATCH') {
        const given = Object.keys(body as object)
          .sort()
          .join();
        if (given !== 'name,size_gb') return no(400, `fields: ${given}`);
        return ok(Object.assign(drive, body, { price_per_hour: '12.00' }));
      }
      if (verb === '/resume') {
        if (drive.status !== 'SUSPENDED') return no(400, 'not suspended');
        return ok(Object.assign(drive, { status: 'AVAILABLE' }));
      }
      return no(400, 'not here');
    },
  });
  worlds.push(world);
  return world;
}

function calls(requests: readonly RecordedRequest[]): string[] {
  return requests.map(({ method, path, body }) =>
    body === undefined ? `${method} ${path}` : `${method} ${path} ${JSON.stringify(body)}`,
  );
}

describe('drives list', () => {
  it('shows the drives, and the same rows plain in a pipe', async () => {
    const world = await worldOf(DRIVE, {
      ...DRIVE,
      id: 'd-2',
      name: 'scratch',
      status: 'IN_USE',
      current_instance_id: 'i-7',
    });
    const { code, stdout, stderr, requests } = await world.cli(['drives', 'list']);
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        'NAME      ID                                    STATUS       SIZE        USED  PER HOUR  INSTANCE',
        `datasets  ${ID}  AVAILABLE  500 GB  125.00 GiB      6.00  -`,
        'scratch   d-2                                   IN_USE     500 GB  125.00 GiB      6.00  i-7',
        '',
      ].join('\n'),
    );
    expect(stderr).toBe('');
    expect(calls(requests)).toEqual(['GET /storage/drives']);
  });

  it('is called ls, and the group drive', async () => {
    const world = await worldOf(DRIVE);
    expect(await world.cli(['drive', 'ls', '-q'])).toMatchObject({ code: 0, stdout: `${ID}\n` });
  });

  it('passes everything on as JSON: unknown fields, nulls, new statuses', async () => {
    const odd = {
      id: 'd-9',
      name: null,
      status: 'THAWING',
      used_bytes: null,
      price_per_hour: null,
      encryption: { kind: 'new', levels: [1, 2] },
    };
    const world = await worldOf(DRIVE, odd);
    const { code, stdout } = await world.cli(['drives', 'list', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([DRIVE, odd]);
    const table = await world.cli(['drives', 'list']);
    expect(table.code).toBe(0);
    expect(table.stdout).toContain('d-9');
    expect(table.stdout).toContain('THAWING');
    expect((await world.cli(['drives', 'get', 'd-9'])).stdout).toBe(
      'ID:      d-9\nStatus:  THAWING\n',
    );
  });

  it('has a column for each field of the document', async () => {
    const world = await worldOf(DRIVE);
    const columns = Object.keys(DRIVE).join(',');
    const { stdout } = await world.cli(['drives', 'list', '--columns', columns, '-o', 'csv']);
    expect(stdout).toBe(
      `${columns}\r\n${Object.values(DRIVE)
        .map((value) => value ?? '')
        .join(',')}\r\n`,
    );
  });

  it('says that there are none, and how one is made', async () => {
    const world = await worldOf();
    const empty = 'There are no drives. Create one: gpucloud drives create NAME --size 500GB\n';
    expect(await world.cli(['drives', 'list'])).toMatchObject({ stdout: '', stderr: empty });
    expect(await world.cli(['drives', 'list', '--json'])).toMatchObject({
      stdout: '[]\n',
      stderr: '',
    });
  });

  it('warns of suspended drives with the seven-day rule', async () => {
    const world = await worldOf({ ...DRIVE, status: 'SUSPENDED' });
    const { code, stderr } = await world.cli(['drives', 'list']);
    expect(code).toBe(0);
    expect(stderr).toBe(
      `warning: The drive datasets is SUSPENDED: the balance was exhausted, and the drive is deleted permanently no later than 7 days after it was suspended. Top up the balance, then: gpucloud drives resume ${ID}\n`,
    );
  });

  it('refuses an unknown column before any request', async () => {
    const world = await worldOf(DRIVE);
    for (const verb of [['list'], ['get', 'x'], ['create', 'x', '--size', '1'], ['resume', 'x']]) {
      const { code, stderr, requests } = await world.cli([
        'drives',
        ...verb,
        '--columns',
        'colour',
      ]);
      expect(code).toBe(2);
      expect(stderr).toContain("--columns: no column 'colour'");
      expect(requests).toEqual([]);
    }
  });
});

describe('drives get', () => {
  const details = [
    'Name:          datasets',
    `ID:            ${ID}`,
    'Status:        AVAILABLE',
    'Size:          500 GB',
    'Used:          125.00 GiB',
    'Per hour:      6.00',
    'Paid until:    2026-01-15T13:00:00.000Z',
    'Last charged:  2026-01-15T11:00:00.000Z',
    'Path:          users/1/datasets/',
    'Created:       2026-01-01T00:00:00.000Z',
    'Updated:       2026-01-15T11:00:00.000Z',
    '',
  ].join('\n');

  it('finds a drive by its name and reads it afresh', async () => {
    const world = await worldOf(DRIVE);
    const { code, stdout, requests } = await world.cli(['drives', 'get', 'datasets']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: details });
    expect(calls(requests)).toEqual(['GET /storage/drives', `GET /storage/drives/${ID}`]);
  });

  it('takes a UUID as it is', async () => {
    const world = await worldOf(DRIVE);
    const { stdout, requests } = await world.cli(['drives', 'show', ID]);
    expect(stdout).toBe(details);
    expect(calls(requests)).toEqual([`GET /storage/drives/${ID}`]);
  });

  it('passes the service’s data on as JSON', async () => {
    const world = await worldOf({ ...DRIVE, tier: 'fast' });
    const { stdout } = await world.cli(['drives', 'get', ID, '--json']);
    expect(JSON.parse(stdout)).toEqual({ ...DRIVE, tier: 'fast' });
  });

  it('tells what SUSPENDED means', async () => {
    const world = await worldOf({ ...DRIVE, status: 'SUSPENDED' });
    const { stdout } = await world.cli(['drives', 'get', ID]);
    expect(stdout).toContain(
      [
        'Attention:     the balance was exhausted, and the drive is deleted permanently no later than 7 days after it was suspended;',
        `               its debt grows until then. Top up the balance, then: gpucloud drives resume ${ID}`,
      ].join('\n'),
    );
  });

  it('tells several of the same name apart by their ids alone', async () => {
    const world = await worldOf(DRIVE, { ...DRIVE, id: 'd-2' });
    const { code, stderr, requests } = await world.cli(['drives', 'get', 'datasets']);
    expect(code).toBe(2);
    expect(stderr).toBe(
      `error: DRIVE "datasets": several have that name: ${ID}, d-2 (use an id)\n`,
    );
    expect(calls(requests)).toEqual(['GET /storage/drives']);
    expect(await world.cli(['drives', 'get', 'd-2'])).toMatchObject({ code: 0 });
  });

  it('takes a unique beginning of an id, as a table shows it', async () => {
    const world = await worldOf(DRIVE, { ...DRIVE, id: '0d000000-9', name: '0d000000-0000' });
    const id = async (typed: string) => {
      const { code, stdout, stderr } = await world.cli(['drives', 'get', typed, '-q']);
      return code === 0 ? stdout.trim() : `${code} ${stderr.trim()}`;
    };
    expect(await id('0D000000-0000-4')).toBe(ID);
    expect(await id('0d000000-9')).toBe('0d000000-9');
    // A name goes before a beginning, and less than four characters are none.
    expect(await id('0d000000-0000')).toBe('0d000000-9');
    expect(await id('0d0')).toMatch(/^3 .*there is no drive with that name or id/);
    expect(await id('0d00')).toBe(
      `2 error: DRIVE "0d00": several have an id that begins so: datasets ${ID}, 0d000000-0000 0d000000-9 (use an id)`,
    );
  });

  it('resumes by a beginning of the id', async () => {
    const world = await worldOf({ ...DRIVE, status: 'SUSPENDED' });
    const resumed = await world.cli(['drives', 'resume', '0d000000']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(calls(resumed.requests)).toContain(`POST /storage/drives/${ID}/resume {}`);
  });

  it('says where to look when there is none', async () => {
    const world = await worldOf();
    expect(await world.cli(['drives', 'get', '../users/me'])).toMatchObject({
      code: 3,
      stderr:
        'error: DRIVE "../users/me": there is no drive with that name or id.\nhint: gpucloud drives list\n',
    });
    const { code, stderr } = await world.cli(['drives', 'get', ID, '--json']);
    expect(code).toBe(3);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'not_found', resource: ID } });
  });

  it('shows no control of a terminal', async () => {
    const world = await worldOf({
      ...DRIVE,
      name: 'a\u001b]52;c;eA==\u0007b\u202e',
      status: '\u001b[2J',
    });
    for (const argv of [
      ['drives', 'list'],
      ['drives', 'get', ID],
    ]) {
      const { stdout, stderr } = await world.cli(argv);
      expect(stdout + stderr).not.toMatch(/[\u001b\u0007\u202e]/);
    }
  });
});

describe('drives create', () => {
  it('warns before, creates, and tells the price', async () => {
    const world = await sandboxWorld();
    const { code, stdout, stderr, requests } = await world.cli([
      'drives',
      'create',
      'datasets',
      '--size',
      '2TB',
      '--json',
    ]);
    expect(code).toBe(0);
    const drive = JSON.parse(stdout);
    expect(drive).toMatchObject({
      name: 'datasets',
      size_gb: 2000,
      status: 'AVAILABLE',
      price_per_hour: '24.00',
    });
    expect(stderr).toBe(
      [
        '{"warning":{"code":"may_be_billing","message":"The published API has no way to delete a drive, and it bills by the hour from its creation on."}}',
        '',
      ].join('\n'),
    );
    expect(calls(requests)).toEqual([
      'GET /storage/drives',
      'POST /storage/drives {"name":"datasets","size_gb":2000}',
    ]);
    const listed = await world.cli(['drives', 'list', '-q']);
    expect(listed.stdout).toBe(`${drive.id}\n`);
  });

  it('tells people the id and the price', async () => {
    const world = await sandboxWorld();
    const { code, stdout, stderr } = await world.cli(['drives', 'create', 'data', '--size', '5']);
    expect(code).toBe(0);
    const id = /ID: +(.*)/.exec(stdout)?.[1];
    expect(stderr).toBe(
      [
        'warning: The published API has no way to delete a drive, and it bills by the hour from its creation on.',
        `Created the drive data (${id}): 0.06 RUB an hour, billing from now on.`,
        '',
      ].join('\n'),
    );
  });

  it('warns before it sends anything, not after', async () => {
    const world = await createWorld({
      handler: ({ method }) => (method === 'GET' ? ok([]) : 'hangUp'),
    });
    worlds.push(world);
    const { code, stdout, stderr, requests } = await world.cli([
      'drives',
      'create',
      'data',
      '--size',
      '5',
    ]);
    expect(code).toBe(7);
    expect(stdout).toBe('');
    expect(stderr).toContain('no way to delete a drive');
    expect(stderr).toContain('A drive may exist and be billing.');
    expect(calls(requests)).toEqual([
      'GET /storage/drives',
      'POST /storage/drives {"name":"data","size_gb":5}',
    ]);
  });

  it('refuses a taken name off a terminal: exit 5, and the id of the one that exists', async () => {
    const world = await sandboxWorld();
    const first = await world.cli(['drives', 'create', 'ds2', '--size', '2', '-q']);
    const id = first.stdout.trim();
    const again = await world.cli(['drives', 'create', 'ds2', '--size', '2']);
    expect(again).toMatchObject({ code: 5, stdout: '' });
    expect(again.stderr).toContain(
      `error: A drive "ds2" already exists (${id}, 2 GB, 0.024 RUB an hour). Nothing was sent, so no drive was created.\nhint: use ${id}, or add --yes to create another one\n`,
    );
    expect(calls(again.requests)).toEqual(['GET /storage/drives']);
    const meant = await world.cli(['drives', 'create', 'ds2', '--size', '2', '--yes']);
    expect(meant.code).toBe(0);
    const twins = await world.cli(['drives', 'create', 'ds2', '--size', '2', '--json']);
    expect(errorOf(twins.stderr)).toMatchObject({
      code: 'wrong_state',
      message: expect.stringMatching(
        /^2 drives "ds2" already exist \(\S+, 2 GB, 0\.024 RUB an hour; \S+, 2 GB, .*\)\. Nothing/,
      ),
      may_be_billing: false,
    });
  });

  it('asks a person for another of that name', async () => {
    const world = await sandboxWorld();
    const first = await world.cli(['drives', 'create', 'd1', '--size', '2', '-q']);
    const person = atTerminal(world, ['no']);
    await createDrive({ name: 'd1', size: 10 }, person.context).catch((error) => error);
    expect(person.said).toEqual(['Create another drive d1 of 10 GB?']);
    expect(person.stderr()).toContain(`A drive "d1" already exists (${first.stdout.trim()}, 2 GB`);
    expect(world.service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('counts no deleted drive as one of that name', async () => {
    const world = await createWorld({
      handler: ({ method }) =>
        method === 'GET'
          ? ok([
              { ...DRIVE, status: 'DELETED' },
              { ...DRIVE, id: 'd-2', name: 'other' },
            ])
          : ok(DRIVE, 201),
    });
    worlds.push(world);
    const { code, stderr } = await world.cli(['drives', 'create', 'datasets', '--size', '500']);
    expect(code).toBe(0);
    expect(stderr).not.toContain('already exists');
  });

  it.each<[string, Answer | 'hangUp', number]>([
    ['is refused', no(400, 'no'), 1],
    ['gets no response', 'hangUp', 6],
    ['is not understood', { status: 200, body: 'hello' }, 10],
  ])('creates nothing when the list of drives %s', async (_how, answer, exit) => {
    const world = await createWorld({
      handler: ({ method }) => (method === 'GET' ? answer : ok(DRIVE, 201)),
    });
    worlds.push(world);
    const { code, stdout, requests } = await world.cli([
      'drives',
      'create',
      'datasets',
      '--size',
      '500',
    ]);
    expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
    expect(requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('waits while another process creates a drive, then finds it', async () => {
    const world = await sandboxWorld();
    const argv = ['drives', 'create', 'one', '--size', '2', '--json'];
    const ended = await Promise.all([1, 2, 3].map(() => world.cli(argv)));
    expect(ended.map(({ code }) => code).sort()).toEqual([0, 5, 5]);
    expect(world.service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('waits for the response at the first Ctrl-C, and leaves at the second', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const world = await createWorld({
      handler: ({ method }) => {
        if (method === 'GET') return ok([]);
        first.abort(new CliError('interrupted', 'Interrupted.'));
        setImmediate(() => second.abort(new CliError('interrupted', 'Interrupted.')));
        return new Promise(() => undefined);
      },
    });
    worlds.push(world);
    const { code, stderr } = await world.cli(['drives', 'create', 'data', '--size', '5'], {
      interrupts: { first: first.signal, second: second.signal },
    });
    expect(code).toBe(7);
    expect(stderr).toContain('Waiting for the response: the drive data may already exist and be');
    expect(stderr).toContain('A drive may exist and be billing.\nhint: gpucloud drives list shows');
  });

  it('creates the drive when the response arrives after the first Ctrl-C', async () => {
    const first = new AbortController();
    const world = await createWorld({
      handler: ({ method }) => {
        if (method === 'GET') return ok([]);
        first.abort(new CliError('interrupted', 'Interrupted.'));
        return ok(DRIVE, 201);
      },
    });
    worlds.push(world);
    const { code, stdout } = await world.cli(['drives', 'create', 'data', '--size', '5', '-q'], {
      interrupts: { first: first.signal, second: new AbortController().signal },
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${ID}\n` });
  });

  it('goes no further with a key that is refused', async () => {
    const world = await createWorld({ handler: () => no(401, 'no') });
    worlds.push(world);
    const { code, requests } = await world.cli(['drives', 'create', 'datasets', '--size', '500']);
    expect(code).toBe(4);
    expect(requests.map(({ method }) => method)).toEqual(['GET']);
  });

  it('says that nothing was created when it is interrupted while it reads the list', async () => {
    const first = new AbortController();
    const world = await createWorld({
      handler: () => {
        first.abort(new CliError('interrupted', 'Interrupted.'));
        return new Promise(() => undefined);
      },
    });
    worlds.push(world);
    const { code, stderr, requests } = await world.cli(
      ['drives', 'create', 'datasets', '--size', '500'],
      { interrupts: { first: first.signal, second: new AbortController().signal } },
    );
    expect(code).toBe(130);
    expect(stderr).toContain('Interrupted. Nothing was sent, so no drive was created.');
    expect(requests.map(({ method }) => method)).toEqual(['GET']);
  });

  it.each([
    [['data', '--size', '1.5TB'], '--size "1.5TB": a size is a whole number of GB or TB'],
    [['data', '--size', '0'], '--size "0": a size is more than zero'],
    [['data', '--size', '-5'], '--size'],
    [[' ', '--size', '5'], 'NAME " ": a name is not empty'],
    [['--name', '', '--size', '5'], '--name "": a name is not empty'],
    [['a', '--name', 'b', '--size', '5'], 'NAME "a" and --name "b" differ'],
    [[], 'a drive needs NAME and --size'],
    [['data'], 'a drive needs --size'],
    [['--size', '5'], 'a drive needs NAME'],
    [['a', 'b', '--size', '5'], 'too many arguments'],
  ])('refuses %j before any request', async (given, words) => {
    const world = await worldOf();
    const { code, stdout, stderr, requests } = await world.cli(['drives', 'create', ...given]);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(words);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(requests).toEqual([]);
  });

  it('asks for what is missing, then whether it is meant', async () => {
    const world = await sandboxWorld();
    const person = atTerminal(world, ['', 'data', 'big', '500GB', 'yes']);
    await createDrive({ name: undefined, size: undefined }, person.context);
    await person.context.close();
    expect(person.said).toEqual([
      'Name of the drive?',
      '> a name is not empty',
      'Size (such as 500GB or 2TB)?',
      '> a size is a whole number of GB or TB, such as 500, 500GB or 2TB (1 TB = 1000 GB)',
      'Create the drive data of 500 GB?',
    ]);
    expect(person.stdout()).toContain('Size:          500 GB');
  });

  it('sends nothing without a yes', async () => {
    const world = await sandboxWorld();
    const person = atTerminal(world, ['no']);
    const failure = await createDrive({ name: 'data', size: 5 }, person.context).catch(
      (error) => error,
    );
    expect(failure).toBeInstanceOf(CliError);
    expect(failure).toMatchObject({
      failure: 'interrupted',
      message: 'Cancelled. Nothing was changed.',
    });
    expect(person.stderr()).toContain('no way to delete a drive');
    expect(calls(world.service.requests)).toEqual(['GET /storage/drives']);
  });

  it('is not asked with --yes', async () => {
    const world = await sandboxWorld();
    const person = atTerminal(world, [], { yes: true });
    await createDrive({ name: 'data', size: 5 }, person.context);
    await person.context.close();
    expect(person.said).toEqual([]);
    expect(world.service.requests.map(({ method }) => method)).toEqual(['POST']);
  });

  it.each([
    [null, 'the service told no price'],
    ['', 'the service told no price'],
    ['1e3', 'price per hour "1e3"'],
    ['0.012345678901234567890123456789', '0.012345678901234567890123456789 RUB an hour'],
  ])('says of the price %j: %s', async (price_per_hour, words) => {
    const world = await createWorld({
      handler: ({ method }) => (method === 'GET' ? ok([]) : ok({ ...DRIVE, price_per_hour }, 201)),
    });
    worlds.push(world);
    const { stderr } = await world.cli(['drives', 'create', 'datasets', '--size', '500']);
    expect(stderr).toContain(`(${ID}): ${words}, billing`);
  });
});

describe('drives update', () => {
  it('reads the drive, sends both fields and tells both prices', async () => {
    const world = await worldOf({ ...DRIVE });
    const { code, stdout, stderr, requests } = await world.cli([
      'drives',
      'update',
      'datasets',
      '--size',
      '1TB',
      '-o',
      'json',
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ ...DRIVE, size_gb: 1000, price_per_hour: '12.00' });
    expect(stderr).toBe('');
    const back = await world.cli(['drives', 'update', 'datasets', '--size', '1TB']);
    expect(back.stderr).toBe(
      'Before: datasets, 1000 GB, 12.00 RUB an hour. Now: datasets, 1000 GB, 12.00 RUB an hour.\n',
    );
    expect(calls(requests)).toEqual([
      'GET /storage/drives',
      `GET /storage/drives/${ID}`,
      `PATCH /storage/drives/${ID} {"name":"datasets","size_gb":1000}`,
    ]);
  });

  it('keeps the size when only the name changes', async () => {
    const world = await worldOf({ ...DRIVE });
    const { code, requests } = await world.cli(['drives', 'update', ID, '--name', 'archive']);
    expect(code).toBe(0);
    expect(calls(requests)).toEqual([
      `GET /storage/drives/${ID}`,
      `PATCH /storage/drives/${ID} {"name":"archive","size_gb":500}`,
    ]);
  });

  it('works with the sandbox, which sets the price by the size', async () => {
    const world = await sandboxWorld();
    await world.cli(['drives', 'create', 'data', '--size', '500']);
    const { code, stderr } = await world.cli([
      'drives',
      'update',
      'data',
      '--size',
      '250',
      '--name',
      'small',
    ]);
    expect(code).toBe(0);
    expect(stderr).toBe(
      [
        'data has 500 GB: 6.00 RUB an hour. The price of 250 GB is told once it is changed.',
        'Before: data, 500 GB, 6.00 RUB an hour. Now: small, 250 GB, 3.00 RUB an hour.',
        '',
      ].join('\n'),
    );
  });

  it('asks a person before the size changes, and of a name nothing', async () => {
    const world = await worldOf({ ...DRIVE });
    const person = atTerminal(world, ['no']);
    const left = await update(ID, { size: 1000 }, person.context).catch((error) => error);
    expect(left).toMatchObject({ failure: 'interrupted' });
    expect(person.said).toEqual(['Change datasets from 500 GB to 1000 GB?']);
    expect(person.stderr()).toBe(
      'datasets has 500 GB: 6.00 RUB an hour. The price of 1000 GB is told once it is changed.\n',
    );
    expect(calls(world.service.requests)).toEqual([`GET /storage/drives/${ID}`]);
    const renamed = atTerminal(world, []);
    await update(ID, { name: 'archive' }, renamed.context);
    expect(renamed.said).toEqual([]);
    const agreed = atTerminal(world, ['yes']);
    await update(ID, { size: 1000 }, agreed.context);
    const meant = atTerminal(world, [], { yes: true });
    await update(ID, { size: 500 }, meant.context);
    expect(meant.said).toEqual([]);
    const patched = world.service.requests.filter(({ method }) => method === 'PATCH');
    expect(patched).toHaveLength(3);
  });

  it('sends nothing when the service does not tell what must be sent along', async () => {
    const world = await worldOf({ ...DRIVE, size_gb: null, name: null });
    const rename = await world.cli(['drives', 'update', ID, '--name', 'archive']);
    expect(rename.code).toBe(10);
    expect(rename.stderr).toContain('Nothing was changed.\nhint: give --size too');
    const resize = await world.cli(['drives', 'update', ID, '--size', '5']);
    expect(resize.code).toBe(10);
    expect(resize.stderr).toContain('hint: give --name too');
    expect([...calls(rename.requests), ...calls(resize.requests)]).toEqual([
      `GET /storage/drives/${ID}`,
      `GET /storage/drives/${ID}`,
    ]);
    expect((await world.cli(['drives', 'update', ID, '--size', '5', '--name', 'a'])).code).toBe(0);
  });

  it.each([
    [['datasets'], 'nothing to change: give --name, --size or both'],
    [['datasets', '--size', '5GiB'], '--size "5GiB": a size is a whole number'],
    [['datasets', '--name', ' '], '--name " ": a name is not empty'],
    [['', '--size', '5'], 'DRIVE "": a name is not empty'],
    [[], 'missing argument: drive'],
  ])('refuses %j before any request', async (given, words) => {
    const world = await worldOf({ ...DRIVE });
    const { code, stderr, requests } = await world.cli(['drives', 'update', ...given]);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
    expect(requests).toEqual([]);
  });
});

describe('drives resume', () => {
  it('brings a suspended drive back', async () => {
    const world = await worldOf({ ...DRIVE, status: 'SUSPENDED' });
    const { code, stdout, stderr, requests } = await world.cli([
      'drives',
      'resume',
      'datasets',
      '--json',
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(DRIVE);
    expect(stderr).toBe('');
    expect(calls(requests)).toEqual([
      'GET /storage/drives',
      `POST /storage/drives/${ID}/resume {}`,
    ]);
  });

  it('tells people what it costs again', async () => {
    const world = await worldOf({ ...DRIVE, status: 'SUSPENDED' });
    const { code, stdout, stderr } = await world.cli(['drives', 'resume', ID, '-o', 'id']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${ID}\n` });
    expect(stderr).toBe('The drive datasets is AVAILABLE: 6.00 RUB an hour, billing goes on.\n');
  });

  it('has the exit code of a wrong state for a drive that is not suspended', async () => {
    const world = await worldOf({ ...DRIVE });
    const { code, stdout, stderr } = await world.cli(['drives', 'resume', ID]);
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(stderr).toContain('Only a SUSPENDED drive can be resumed');
  });
});

describe('what the API document does not have', () => {
  it.each(['delete', 'rm', 'attach', 'detach'])('drives %s says so', async (verb) => {
    const world = await worldOf({ ...DRIVE });
    const { code, stderr, requests } = await world.cli(['drives', verb, 'datasets', '--force']);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      new RegExp(`^error: drives ${verb}: not in the published API \\(.*gpucloud`),
    );
    expect(requests).toEqual([]);
  });
});
