import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { inZone } from '../../support/in-zone.ts';
import { RentingService } from '../../support/renting-service.ts';
import { createWorld } from '../../support/run-cli.ts';
import { calls, DRIVE, ID, worldOf } from './world.ts';

describe('drives list', () => {
  it('prints a plain table to a pipe', async () => {
    const world = await worldOf(DRIVE, {
      ...DRIVE,
      id: 'd-2',
      name: 'scratch',
      status: 'IN_USE',
      current_instance_id: 'i-7',
    });
    const { requests } = await world.cli(['drives', 'list']);
    expect(calls(requests)).toEqual(['GET /storage/drives']);
  });

  it('lists drives without an instance although the journal can not be read', async () => {
    const world = await worldOf(DRIVE);
    const journal = join(world.home, 'state', 'journal');
    await rm(journal, { recursive: true });
    await writeFile(journal, '');
    expect((await world.cli(['drives', 'list'])).code).toBe(0);
  });

  it('keeps the size, the price and the instance on 80 columns, rather than the ID and the use', async () => {
    const holder = '3f0c5d9e-1111-4222-8333-444455556666';
    const world = await worldOf({ ...DRIVE, status: 'IN_USE', current_instance_id: holder });
    const shown = async (columns: number) =>
      stripVTControlCharacters(
        (await world.cli(['drives', 'list'], { terminal: true, columns })).stdout,
      );
    expect(await shown(80)).toBe(
      [
        'NAME      STATUS    SIZE  PER HOUR  INSTANCE',
        `datasets  IN_USE  500 GB    6.00 ₽  ${holder}`,
        '',
      ].join('\n'),
    );
    expect(await shown(66)).toBe(
      ['NAME      STATUS    SIZE  PER HOUR', 'datasets  IN_USE  500 GB    6.00 ₽', ''].join('\n'),
    );
  });

  it('shows the name of a known instance to people, and its ID to scripts', async () => {
    const holder = '3f0c5d9e-1111-4222-8333-444455556666';
    const service = new RentingService();
    const used = { ...DRIVE, id: ID, status: 'IN_USE', current_instance_id: holder };
    service.drives = [used, { ...DRIVE, id: 'd-2', current_instance_id: null }];
    service.rent(holder, 'trainer', { status: 'ACTIVE' });
    const world = await createWorld({ handler: service.handler });
    await world.cli(['instances', 'track', holder]);
    expect((await world.cli(['drives', 'list'])).stdout).toContain('6.00  trainer\n');
    const { stdout } = await world.cli(['drives', 'list', '-o', 'tsv', '--no-header']);
    expect(stdout).toContain(`\t${holder}`);
  });

  it('reports an empty list, and how to create a drive', async () => {
    const world = await worldOf();
    const empty = 'No drives. Create one: gpucloud drives create NAME --size 500GB\n';
    expect(await world.cli(['drives', 'list'])).toMatchObject({ stdout: '', stderr: empty });
    expect(await world.cli(['drives', 'list', '--json'])).toMatchObject({
      stdout: '[]\n',
      stderr: '',
    });
  });

  it('warns about suspended drives with the seven-day rule', async () => {
    const world = await worldOf({ ...DRIVE, status: 'SUSPENDED' });
    await world.cli(['drives', 'list']);
  });

  it('warns about an almost full drive, which the service makes more expensive', async () => {
    const world = await worldOf({ ...DRIVE, used_bytes: `${480 * 2 ** 30}` });
    await world.cli(['drives', 'list']);
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
    inZone('Paid until:    2026-01-15 13:00:00 +00:00'),
    inZone('Last charged:  2026-01-15 11:00:00 +00:00'),
    'Path:          users/1/datasets/',
    inZone('Created:       2026-01-01 00:00:00 +00:00'),
    inZone('Updated:       2026-01-15 11:00:00 +00:00'),
    '',
  ].join('\n');

  it('finds a drive by name, then reads it by ID', async () => {
    const world = await worldOf(DRIVE);
    const { code, stdout, requests } = await world.cli(['drives', 'get', 'datasets']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: details });
    expect(calls(requests)).toEqual(['GET /storage/drives', `GET /storage/drives/${ID}`]);
  });

  it("accepts a drive's UUID", async () => {
    const world = await worldOf(DRIVE);
    const { stdout, requests } = await world.cli(['drives', 'show', ID]);
    expect(stdout).toBe(details);
    expect(calls(requests)).toEqual([`GET /storage/drives/${ID}`]);
  });

  it('explains the status of a SUSPENDED drive', async () => {
    const world = await worldOf({ ...DRIVE, status: 'SUSPENDED' });
    await world.cli(['drives', 'get', ID]);
  });

  it('rejects an ambiguous name, and accepts the ID', async () => {
    const world = await worldOf(DRIVE, { ...DRIVE, id: 'd-2' });
    const { stderr, requests } = await world.cli(['drives', 'get', 'datasets']);
    expect(stderr).toBe(`error: DRIVE "datasets" is ambiguous: ${ID}, d-2\nhint: use an ID\n`);
    expect(calls(requests)).toEqual(['GET /storage/drives']);
    expect(await world.cli(['drives', 'get', 'd-2'])).toMatchObject({ code: 0 });
  });

  it('accepts a unique ID prefix of at least four characters', async () => {
    const world = await worldOf(DRIVE, { ...DRIVE, id: '0d000000-9', name: '0d000000-0000' });
    const id = async (typed: string) => {
      const { code, stdout, stderr } = await world.cli(['drives', 'get', typed, '-q']);
      return code === 0 ? stdout.trim() : `${code} ${stderr.trim()}`;
    };
    expect(await id('0D000000-0000-4')).toBe(ID);
    expect(await id('0d000000-9')).toBe('0d000000-9');
    // A name takes precedence over an ID prefix, which needs four characters.
    expect(await id('0d000000-0000')).toBe('0d000000-9');
    expect(await id('0d0')).toMatch(/^3 .*no drive has that name or ID/);
    expect(await id('0d00')).toBe(
      `2 error: DRIVE "0d00" is ambiguous: datasets ${ID}, 0d000000-0000 0d000000-9\nhint: use an ID`,
    );
  });

  it('exits with 3 for an unknown drive, and suggests the list', async () => {
    const world = await worldOf();
    expect(await world.cli(['drives', 'get', '../users/me'])).toMatchObject({
      code: 3,
      stderr:
        'error: DRIVE "../users/me": no drive has that name or ID.\nhint: gpucloud drives list\n',
    });
    const { stderr } = await world.cli(['drives', 'get', ID, '--json']);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'not_found', resource: ID } });
  });
});
