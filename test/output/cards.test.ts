import { describe, expect, test } from 'vitest';
import { createOutput } from '../../src/output/index.ts';
import type { View } from '../../src/output/output.ts';
import { layoutOf } from '../../src/output/table/layout.ts';
import { createEmulator } from './emulator.ts';
import { clock, Page } from './world.ts';

interface Row {
  name: string;
  id: string;
  status: string;
  price: string;
}

const view: View<Row> = {
  columns: [
    { id: 'name', header: 'NAME', value: (row) => row.name },
    { id: 'id', header: 'ID', value: (row) => row.id },
    { id: 'status', header: 'STATUS', kind: 'status', value: (row) => row.status },
    { id: 'price', header: 'PER HOUR', kind: 'money', value: (row) => row.price },
  ],
  id: (row) => row.id,
  empty: 'None.',
};

const ROWS = ['a', 'b'].map((letter) => ({
  name: `trainer-${letter}`,
  id: `${letter}f2c5d9e-1111-4222-8333-444455556666`,
  status: 'PROVISIONING',
  price: '89.90',
}));

async function printed(
  rows: readonly Row[],
  columns: number,
  header = true,
  shown = view,
  settings: { columns?: string[] } = {},
): Promise<string> {
  const { stream, screen } = createEmulator(columns, 60);
  const out = createOutput({
    stdout: stream,
    env: {},
    clock,
    colour: false,
    note: () => undefined,
    settings: { format: 'table', header, showSecrets: false, ...settings },
  });
  await out.list(rows, shown);
  return screen();
}

describe('a table on a narrow terminal', () => {
  test('prints a table on a narrow terminal as cards with whole IDs', async () => {
    expect(await printed(ROWS, 40)).toBe(
      [
        ...['NAME: trainer-a', 'ID: af2c5d9e-1111-4222-8333-444455556666', 'STATUS: PROVISIONING'],
        ...['PER HOUR: 89.90 ₽', '', 'NAME: trainer-b', 'ID: bf2c5d9e-1111-4222-8333-444455556666'],
        ...['STATUS: PROVISIONING', 'PER HOUR: 89.90 ₽'],
      ].join('\n'),
    );
  });

  test('aligns a column of numbers and texts to the left', () => {
    const cells = [false, true].map((numeric) => [{ text: 'x', colour: undefined, numeric }]);
    const { columns } = layoutOf([{ header: 'N', right: false }], cells, 80);
    expect(columns).toEqual([{ header: 'N', width: 1, right: false }]);
  });

  test("aligns a card's values in one column if they fit", async () => {
    const short = ROWS.map((row) => ({ ...row, id: row.id.slice(0, 12) }));
    expect(await printed(short, 21)).toContain('\nSTATUS: PROV');
    expect((await printed(short, 22)).split('\n').slice(0, 4)).toEqual([
      'NAME:     trainer-a',
      'ID:       af2c5d9e-111',
      'STATUS:   PROVISIONING',
      'PER HOUR: 89.90 ₽',
    ]);
  });

  test('keeps a table while its columns are readable', async () => {
    expect((await printed(ROWS, 71)).split('\n')).toEqual([
      'NAME       ID                                    STATUS        PER HOUR',
      'trainer-a  af2c5d9e-1111-4222-8333-444455556666  PROVISIONING   89.90 ₽',
      'trainer-b  bf2c5d9e-1111-4222-8333-444455556666  PROVISIONING   89.90 ₽',
    ]);
  });

  test('prints cards rather than cut an ID or a status', async () => {
    for (const columns of [70, 60, 50]) {
      const text = await printed(ROWS, columns);
      expect(text).toContain(`ID:       ${ROWS[0]?.id}\nSTATUS:   PROVISIONING`);
      expect(text).not.toContain('…');
    }
  });

  test('prints cards rather than a line of numbers that is too long', async () => {
    const numbers: View<Row> = {
      ...view,
      columns: ['PER HOUR', 'PER DAY'].map((header) => ({
        ...{ id: header, header, kind: 'money', value: (row: Row) => row.price },
      })),
    };
    expect(await printed(ROWS.slice(1), 17, true, numbers)).toBe(
      'PER HOUR  PER DAY\n 89.90 ₽  89.90 ₽',
    );
    expect(await printed(ROWS.slice(1), 16, true, numbers)).toBe(
      'PER HOUR: 89.90\n₽\nPER DAY: 89.90 ₽',
    );
  });

  test('omits an optional column before it prints cards', async () => {
    const spared: View<Row> = {
      ...view,
      columns: view.columns.map((column) =>
        column.id === 'id' ? { ...column, spared: true } : column,
      ),
    };
    expect(await printed(ROWS, 100, true, spared)).toContain(ROWS[0]?.id);
    const table = [
      'NAME       STATUS        PER HOUR',
      'trainer-a  PROVISIONING   89.90 ₽',
      'trainer-b  PROVISIONING   89.90 ₽',
    ].join('\n');
    expect(await printed(ROWS, 36, true, spared)).toBe(table);
    expect(await printed(ROWS, 60, true, spared)).toBe(table);
    expect(await printed(ROWS, 20, true, spared)).toContain('ID: af2c5d9e-1111');
    const columns = ['name', 'id', 'status', 'price'];
    expect(await printed(ROWS, 36, true, spared, { columns })).toContain('ID: af2c5d9e-1111');
  });

  test('omits optional columns one by one on a narrow terminal', async () => {
    const both: View<Row> = {
      ...view,
      columns: view.columns.map((column) =>
        ['id', 'price'].includes(column.id) ? { ...column, spared: true } : column,
      ),
    };
    expect((await printed(ROWS, 36, true, both)).split('\n')[0]).toBe(
      'NAME       STATUS        PER HOUR',
    );
    expect((await printed(ROWS, 28, true, both)).split('\n')[0]).toBe('NAME       STATUS');
  });

  test("prints a card's bare values without a header", async () => {
    const [name, id] = (await printed(ROWS, 40, false)).split('\n');
    expect([name, id]).toEqual([ROWS[0]?.name, ROWS[0]?.id]);
  });

  test('prints 300 rows as cards', async () => {
    const many = Array.from({ length: 300 }, () => ROWS[0] as Row);
    const page = new Page({ columns: 40 });
    const out = createOutput({
      stdout: page,
      env: {},
      clock,
      colour: false,
      note: () => undefined,
      settings: { format: 'table', header: true, showSecrets: false },
    });
    await out.list(many, view);
    expect(page.text.match(/^ID: af2c5d9e-1111-4222-8333-444455556666$/gm)).toHaveLength(300);
  });
});
