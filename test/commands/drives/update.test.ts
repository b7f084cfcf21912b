import { describe, expect, it } from 'vitest';
import { update } from '../../../src/commands/drives/index.ts';
import { atTerminal } from '../../support/at-terminal.ts';
import { createWorld } from '../../support/run-cli.ts';
import { ok } from '../../support/service.ts';
import { calls, DRIVE, ID, worldOf } from './world.ts';

describe('drives update', () => {
  it('reads the drive, sends its name and size, and prints both prices', async () => {
    const world = await worldOf({ ...DRIVE });
    const { requests } = await world.cli([
      ...['drives', 'update', 'datasets', '--size', '1TB', '-o', 'json'],
    ]);
    await world.cli(['drives', 'update', 'datasets', '--size', '1TB']);
    expect(calls(requests)).toEqual([
      'GET /storage/drives',
      `GET /storage/drives/${ID}`,
      `PATCH /storage/drives/${ID} {"name":"datasets","size_gb":1000}`,
    ]);
  });

  it('keeps the size when only the name changes', async () => {
    const world = await worldOf({ ...DRIVE });
    const { requests } = await world.cli(['drives', 'update', ID, '--name', 'archive']);
    expect(calls(requests)).toEqual([
      `GET /storage/drives/${ID}`,
      `PATCH /storage/drives/${ID} {"name":"archive","size_gb":500}`,
    ]);
  });

  it('asks before changing the size, but not before changing the name', async () => {
    const world = await worldOf({ ...DRIVE });
    const person = atTerminal(world, ['no']);
    const left = await update(ID, { size: 1000 }, person.context).catch((error) => error);
    expect(left).toMatchObject({ failure: 'interrupted' });
    expect(person.said).toEqual(['Change datasets from 500 GB to 1000 GB?']);
    expect(person.stderr()).toBe(
      'datasets has 500 GB: 6.00 ₽ per hour. The API shows the new price only after the change.\n',
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
    const [line, ...others] = meant.stderr().trim().split('\n');
    expect(line).toMatch(/^Before: .* Now: .*\.$/);
    expect(others).toEqual([]);
    const patched = world.service.requests.filter(({ method }) => method === 'PATCH');
    expect(patched).toHaveLength(3);
  });

  it('exits with 10 and sends no PATCH if the response lacks the other field', async () => {
    const world = await worldOf({ ...DRIVE, size_gb: null, name: null });
    const rename = await world.cli(['drives', 'update', ID, '--name', 'archive']);
    const resize = await world.cli(['drives', 'update', ID, '--size', '5']);
    expect([...calls(rename.requests), ...calls(resize.requests)]).toEqual([
      `GET /storage/drives/${ID}`,
      `GET /storage/drives/${ID}`,
    ]);
    const person = atTerminal(world, ['no']);
    await update(ID, { size: 5, name: 'a' }, person.context).catch((error) => error);
    expect(person.said).toEqual([`Change ${ID} from ? GB to 5 GB?`]);
    expect((await world.cli(['drives', 'update', ID, '--size', '5', '--name', 'a'])).code).toBe(0);
  });

  it.each([
    [['datasets'], 'nothing to change: add --name, --size or both'],
    [['datasets', '--size', '5GiB'], '--size "5GiB": must be a whole number'],
    [['datasets', '--name', ' '], '--name " ": must not be empty'],
    [['', '--size', '5'], 'DRIVE "": must not be empty'],
    [[], 'missing argument: drive'],
  ])('rejects drives update %j before any request', async (given, words) => {
    const world = await worldOf({ ...DRIVE });
    const { stderr, requests } = await world.cli(['drives', 'update', ...given]);
    expect(stderr).toContain(words);
    expect(requests).toEqual([]);
  });
});

describe('drives resume', () => {
  it('resumes a suspended drive', async () => {
    const world = await worldOf({ ...DRIVE, status: 'SUSPENDED' });
    const { stdout, requests } = await world.cli([...['drives', 'resume', 'datasets', '--json']]);
    expect(JSON.parse(stdout)).toEqual(DRIVE);
    expect(calls(requests)).toEqual([
      'GET /storage/drives',
      `POST /storage/drives/${ID}/resume {}`,
    ]);
  });

  it("prints a resumed drive's cost to stderr", async () => {
    const world = await worldOf({ ...DRIVE, status: 'SUSPENDED' });
    const { stderr } = await world.cli(['drives', 'resume', ID, '-o', 'id']);
    expect(stderr).toBe('Drive datasets is AVAILABLE and billing: 6.00 ₽ per hour.\n');
  });

  it('resumes a drive whose response has no status', async () => {
    const world = await createWorld({ handler: () => ok({ ...DRIVE, status: null, name: null }) });
    const { stderr } = await world.cli(['drives', 'resume', ID, '-o', 'csv']);
    expect(stderr).toBe(`Drive ${ID} is resumed and billing: 6.00 ₽ per hour.\n`);
  });

  it('exits with 5 for a drive that is not suspended', async () => {
    const world = await worldOf({ ...DRIVE });
    const { code, stdout } = await world.cli(['drives', 'resume', ID]);
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
  });
});

it('prints one line per changed drive at a terminal', async () => {
  const world = await worldOf({ ...DRIVE });
  const size = ['drives', 'update', ID, '--size', '250', '--yes'];
  expect((await world.cli(size, { terminal: true })).stdout).toBe('');
  const suspended = await worldOf({ ...DRIVE, status: 'SUSPENDED' });
  const { stdout, stderr } = await suspended.cli(['drives', 'resume', ID], { terminal: true });
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^Drive datasets is [A-Z_]+ and billing: /);
});
