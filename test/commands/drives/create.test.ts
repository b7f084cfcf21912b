import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createDrive } from '../../../src/commands/drives/create.ts';
import { CliError } from '../../../src/errors.ts';
import { atTerminal } from '../../support/at-terminal.ts';
import { createSandboxWorld, createWorld } from '../../support/run-cli.ts';
import type { Answer } from '../../support/service.ts';
import { no, ok } from '../../support/service.ts';
import { calls, DRIVE, ID, worldOf } from './world.ts';

describe('drives create', () => {
  it("warns that a drive can't be deleted, and prints its price as JSON", async () => {
    const world = await createSandboxWorld();
    const { requests } = await world.cli([
      ...['drives', 'create', 'datasets', '--size', '2TB', '--json'],
    ]);
    expect(calls(requests)).toEqual([
      'GET /storage/drives',
      'POST /storage/drives {"name":"datasets","size_gb":2000}',
    ]);
    await world.cli(['drives', 'list', '-q']);
  });

  it('shows people the ID and the price', async () => {
    const world = await createSandboxWorld();
    await world.cli(['drives', 'create', 'data', '--size', '5']);
  });

  it('prints the warning even if the response is lost', async () => {
    const world = await createWorld({
      handler: ({ method }) => (method === 'GET' ? ok([]) : 'hangUp'),
    });
    const { stdout, requests } = await world.cli([...['drives', 'create', 'data', '--size', '5']]);
    expect(stdout).toBe('');
    expect(calls(requests)).toEqual([
      'GET /storage/drives',
      'POST /storage/drives {"name":"data","size_gb":5}',
    ]);
  });

  it("exits with 5 for an existing name when not interactive, and prints the drive's ID", async () => {
    const world = await createSandboxWorld();
    await world.cli(['drives', 'create', 'ds2', '--size', '2', '-q']);
    const again = await world.cli(['drives', 'create', 'ds2', '--size', '2']);
    expect(again).toMatchObject({ code: 5, stdout: '' });
    expect(calls(again.requests)).toEqual(['GET /storage/drives']);
    await world.cli(['drives', 'create', 'ds2', '--size', '2', '--yes']);
    await world.cli(['drives', 'create', 'ds2', '--size', '2', '--json']);
  });

  it('creates a drive with a key whose account is unknown', async () => {
    const handler = ({ method }: { method: string }) =>
      method === 'GET' ? ok([{ ...DRIVE, size_gb: null }]) : ok(DRIVE, 201);
    const world = await createWorld({ handler, isKeyNew: true });
    const { requests } = await world.cli(['drives', 'create', 'd1', '--size', '5', '-q']);
    expect(calls(requests)).toEqual([
      'GET /storage/drives',
      'POST /storage/drives {"name":"d1","size_gb":5}',
    ]);
    expect((await world.cli(['drives', 'create', 'datasets', '--size', '5'])).code).toBe(5);
    // An abandoned lock is a folder.
    const lock = join(world.home, 'state', 'drives.lock');
    await writeFile(lock, '');
    await utimes(lock, 0, 0);
    expect((await world.cli(['drives', 'create', 'd1', '--size', '5'])).code).toBe(9);
  });

  it('asks whether to create a second drive with the same name', async () => {
    const world = await createSandboxWorld();
    const first = await world.cli(['drives', 'create', 'd1', '--size', '2', '-q']);
    const person = atTerminal(world, ['no']);
    await createDrive({ name: 'd1', size: 10 }, person.context).catch((error) => error);
    expect(person.said).toEqual(['Create another drive d1 (10 GB)?']);
    expect(person.stderr()).toContain(
      `A drive named "d1" already exists (${first.stdout.trim()}, 2 GB`,
    );
    expect(world.service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    const sure = atTerminal(world, ['yes']);
    await createDrive({ name: 'd1', size: 10 }, sure.context);
    await sure.context.close();
    await world.cli(['drives', 'list']);
  });

  it('ignores a deleted drive with the same name', async () => {
    const world = await createWorld({
      handler: ({ method }) =>
        method === 'GET'
          ? ok([
              { ...DRIVE, status: 'DELETED' },
              { ...DRIVE, id: 'd-2', name: 'other' },
            ])
          : ok(DRIVE, 201),
    });
    const { stderr } = await world.cli(['drives', 'create', 'datasets', '--size', '500']);
    expect(stderr).not.toContain('already exists');
  });

  it.each<[string, Answer | 'hangUp', number]>([
    ['is refused', no(400, 'no'), 1],
    ['gets no response', 'hangUp', 6],
    ['is unreadable', { status: 200, body: 'hello' }, 10],
  ])('creates nothing if the list of drives %s', async (_how, answer, exit) => {
    const world = await createWorld({
      handler: ({ method }) => (method === 'GET' ? answer : ok(DRIVE, 201)),
    });
    const { code, stdout, requests } = await world.cli([
      ...['drives', 'create', 'datasets', '--size', '500'],
    ]);
    expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
    expect(requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('waits for the response after the first Ctrl-C, and stops waiting at the second', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const world = await createWorld({
      handler: ({ method }) => {
        if (method === 'GET') return ok([]);
        first.abort(new CliError('interrupted', 'Interrupted.'));
        setImmediate(() => second.abort(new CliError('interrupted', 'Interrupted.')));
        return new Promise(() => undefined);
      },
    });
    await world.cli(['drives', 'create', 'data', '--size', '5'], {
      interrupts: { first: first.signal, second: second.signal },
    });
  });

  it('sends no POST if the key is refused', async () => {
    const world = await createWorld({ handler: () => no(401, 'no') });
    const { requests } = await world.cli(['drives', 'create', 'datasets', '--size', '500']);
    expect(requests.map(({ method }) => method)).toEqual(['GET']);
  });

  it('reports that nothing was created if interrupted while reading the list', async () => {
    const first = new AbortController();
    const world = await createWorld({
      handler: () => {
        first.abort(new CliError('interrupted', 'Interrupted.'));
        return new Promise(() => undefined);
      },
    });
    const { requests } = await world.cli(['drives', 'create', 'datasets', '--size', '500'], {
      interrupts: { first: first.signal, second: new AbortController().signal },
    });
    expect(requests.map(({ method }) => method)).toEqual(['GET']);
  });

  it.each([
    [['data', '--size', '1.5TB'], '--size "1.5TB": must be a whole number of GB or TB'],
    [['data', '--size', '0'], '--size "0": must be more than zero'],
    [['data', '--size', '-5'], '--size'],
    [[' ', '--size', '5'], 'NAME " ": must not be empty'],
    [['--name', '', '--size', '5'], '--name "": must not be empty'],
    [['a', '--name', 'b', '--size', '5'], 'NAME "a" and --name "b" differ'],
    [[], 'drives create: missing NAME and --size'],
    [['data'], 'drives create: missing --size'],
    [['--size', '5'], 'drives create: missing NAME'],
    [['a', 'b', '--size', '5'], 'too many arguments'],
  ])('rejects drives create %j before any request', async (given, words) => {
    const world = await worldOf();
    const { stderr, requests } = await world.cli(['drives', 'create', ...given]);
    expect(stderr).toContain(words);
    expect(stderr).toMatch(/^error: .+\n(hint: .+\n)?$/);
    expect(requests).toEqual([]);
  });

  it('prompts for missing values, then for confirmation', async () => {
    const world = await createSandboxWorld();
    const { GPUCLOUD_BASE_URL: baseUrl = '' } = world.env;
    await world.cli(['profiles', 'add', 'work']);
    const answers = ['', 'data', 'big', '500GB', 'yes'];
    const person = atTerminal(world, answers, { profile: 'work', baseUrl });
    await createDrive({ name: undefined, size: undefined }, person.context);
    await person.context.close();
    expect(person.said).toEqual([
      'Drive name?',
      '> must not be empty',
      'Size (such as 500GB or 2TB)?',
      '> must be a whole number of GB or TB, such as 500, 500GB or 2TB (1 TB = 1000 GB)',
      'Create drive data (500 GB)?',
    ]);
    expect(person.printed).toEqual([
      'Equivalent command:',
      `  gpucloud --profile work --base-url ${baseUrl} drives create --name=data --size 500GB`,
    ]);
    expect(person.stdout()).toContain('Size:          500 GB');
  });

  it('sends nothing unless the user confirms the new drive', async () => {
    const world = await createSandboxWorld();
    const person = atTerminal(world, ['5', 'no']);
    const typed = { name: 'data', size: undefined };
    const failure = await createDrive(typed, person.context).catch((error) => error);
    expect(person.printed).toEqual([
      'Equivalent command:',
      '  gpucloud drives create --name=data --size 5GB',
    ]);
    expect(failure).toBeInstanceOf(CliError);
    expect(failure).toMatchObject({
      failure: 'interrupted',
      message: 'Cancelled. No changes made.',
    });
    expect(person.stderr()).toContain("can't delete drives");
    expect(calls(world.service.requests)).toEqual(['GET /storage/drives']);
  });

  it('skips the prompt and the list of drives with --yes', async () => {
    const world = await createSandboxWorld();
    const person = atTerminal(world, [], { yes: true });
    await createDrive({ name: 'data', size: 5 }, person.context);
    await person.context.close();
    expect(person.said).toEqual([]);
    expect(world.service.requests.map(({ method }) => method)).toEqual(['POST']);
  });

  it.each([
    [null, 'price unknown'],
    ['', 'price unknown'],
    ['1e3', 'price per hour "1e3"'],
    ['0.012345678901234567890123456789', '0.012345678901234567890123456789 ₽ per hour'],
  ])("warns about a new drive's price %j: %s", async (price_per_hour, words) => {
    const world = await createWorld({
      handler: ({ method }) => (method === 'GET' ? ok([]) : ok({ ...DRIVE, price_per_hour }, 201)),
    });
    const { stderr } = await world.cli(['drives', 'create', 'datasets', '--size', '500']);
    expect(stderr).toContain(`(${ID}): ${words}, billing`);
  });
});
