import { describe, expect, test } from 'vitest';
import { createOutput } from '../../src/output/index.ts';
import type { OutputSettings, View } from '../../src/output/output.ts';
import { inZone } from '../support/in-zone.ts';
import { clock, Page, written } from './world.ts';

interface Row {
  id: string | null;
  status: string;
  token?: string;
  price?: string;
  updated_at?: string;
}

const view: View<Row> = {
  columns: [
    { id: 'id', header: 'ID', value: (row) => row.id },
    { id: 'status', header: 'STATUS', value: (row) => row.status },
    { id: 'token', header: 'TOKEN', value: (row) => row.token, hidden: true },
    { id: 'price', header: 'PER HOUR', kind: 'money', value: (row) => row.price, hidden: true },
  ],
  id: (row) => row.id,
  empty: 'None.',
  secrets: ['token'],
};

async function printed(
  readings: readonly (readonly Row[])[],
  settings: Partial<OutputSettings>,
  one = false,
): Promise<string> {
  const page = new Page();
  const out = createOutput({
    stdout: page,
    env: {},
    clock,
    colour: false,
    note: (text) => void page.write(text),
    settings: { format: 'jsonl', header: true, showSecrets: false, ...settings },
  });
  async function* happening() {
    yield* readings;
  }
  await out.changes(happening(), view, { one });
  return page.text;
}

const a = { id: 'a', status: 'ACTIVE' };
const b = { id: 'b', status: 'CREATING' };
const READINGS = [[a, b], [a, b], [a, { ...b, status: 'ACTIVE' }], [a]];

describe('a change', () => {
  test('prints a line of JSON for a change, even for a removed row', async () => {
    expect(await printed(READINGS, {})).toBe(
      '{"id":"a","status":"ACTIVE"}\n{"id":"b","status":"CREATING"}\n' +
        '{"id":"b","status":"ACTIVE"}\n{"id":"b","removed":true}\n',
    );
  });

  test.each([
    ['csv', 'id,status\na,ACTIVE\nb,CREATING\nb,ACTIVE\n'],
    ['tsv', 'id\tstatus\na\tACTIVE\nb\tCREATING\nb\tACTIVE\n'],
    ['table', 'ID  STATUS\na   ACTIVE\nb   CREATING\nb   ACTIVE\n'],
    ['id', 'a\nb\nb\n'],
    ['yaml', '- id: a\n  status: ACTIVE\n- id: b\n  status: CREATING\n- id: b\n  status: ACTIVE\n'],
  ] as const)('prints a changed row in %s', async (format, text) => {
    expect(await printed(READINGS, { format })).toBe(text);
  });

  test('prints nothing if no shown column changed', async () => {
    expect(await printed([[]], { format: 'table' })).toBe('');
    const later = { ...a, updated_at: 'later' };
    expect(await printed([[a], [later]], { format: 'tsv', header: false })).toBe('a\tACTIVE\n');
    expect(await printed([[a], [later]], {})).toBe(
      '{"id":"a","status":"ACTIVE"}\n{"id":"a","status":"ACTIVE","updated_at":"later"}\n',
    );
    expect(await printed([[a], [later]], { columns: ['status'] })).toBe('{"status":"ACTIVE"}\n');
  });

  test('masks secrets in a changed row', async () => {
    expect(await printed([[{ ...a, token: 'hunter22' }]], {})).toBe(
      '{"id":"a","status":"ACTIVE","token":"********"}\n',
    );
    const shown = [[{ ...a, token: 'hunter22', price: '1.00' }]];
    const columns = ['id', 'token', 'price'];
    expect(await printed(shown, { format: 'csv', columns })).toBe(
      'id,token,price\na,********,1.00\n',
    );
    expect(await printed(shown, { format: 'table', columns })).toBe(
      'ID  TOKEN     PER HOUR\na   ********      1.00\n',
    );
  });

  test('compares rows without an ID by their content', async () => {
    expect(await printed([[a], []], {}, true)).toBe(
      '{"id":"a","status":"ACTIVE"}\n{"id":"a","removed":true}\n',
    );
    const unknown = { id: null, status: 'UNKNOWN' };
    expect(await printed([[unknown], [unknown], []], {})).toBe('{"id":null,"status":"UNKNOWN"}\n');
  });

  test('prints the query result for each change', async () => {
    expect(await printed(READINGS, { query: '[].status' })).toBe(
      '"ACTIVE"\n"CREATING"\n"ACTIVE"\n"ACTIVE"\n"ACTIVE"\n',
    );
    const csv = (header: boolean) =>
      printed([[{ id: 'a', status: '=1' }], [a]], {
        ...{ query: '[].{s: status}', format: 'csv', csvSafe: true, header },
      });
    expect(await csv(true)).toBe('s\n"\'=1"\ns\nACTIVE\n');
    expect(await csv(false)).toBe('"\'=1"\nACTIVE\n');
    const one = [[b], [b], [{ ...b, status: 'ACTIVE' }]];
    expect(await printed(one, { query: 'status', format: 'tsv' }, true)).toBe('CREATING\nACTIVE\n');
  });

  test('prints clock times in a terminal, where the ages of old lines would be wrong', async () => {
    const since: View<Row> = {
      ...view,
      columns: [{ id: 'since', header: 'SINCE', kind: 'time', value: (row) => row.updated_at }],
    };
    const row = { ...a, updated_at: '2026-03-01T11:57:00Z' };
    async function* happening() {
      yield [row];
    }
    const live = await written({}, (out) => out.changes(happening(), since), { columns: 40 });
    expect(live).toMatchObject({ stdout: inZone('SINCE\n2026-03-01 11:57:00\n'), notes: [] });
    const once = await written({}, (out) => out.list([row], since), { columns: 40 });
    expect(once.stdout).toBe('SINCE\n3 min ago\n');
  });

  test('rejects --sort with changes', async () => {
    await expect(printed(READINGS, { sort: 'id' })).rejects.toMatchObject({ failure: 'usage' });
  });
});
