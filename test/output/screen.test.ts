import { expect, test } from 'vitest';
import type { Block } from '../../src/output/output.ts';
import { screenText } from '../../src/output/table/screen.ts';

const STYLE = {
  paint: (_colour: unknown, text: string) => text,
  bars: true,
  terminal: true,
  now: () => 0,
};

const text = (blocks: readonly Block[], cells: number) => screenText(blocks, { ...STYLE, cells });

const NEXT: Block = {
  kind: 'facts',
  heading: 'Next',
  facts: [
    { label: '  connect', text: 'gpucloud instances ssh trainer', command: true },
    { label: '  stop paying', text: 'gpucloud instances terminate trainer', command: true },
  ],
};

test('puts each command beside its label if all fit', async () => {
  expect(await text([NEXT], 51)).toBe(
    'Next\n' +
      '  connect      gpucloud instances ssh trainer\n' +
      '  stop paying  gpucloud instances terminate trainer\n',
  );
});

test('puts the commands below their labels on a narrow terminal', async () => {
  expect(await text([NEXT], 50)).toBe(
    'Next\n' +
      '  connect\n' +
      '    gpucloud instances ssh trainer\n' +
      '  stop paying\n' +
      '    gpucloud instances terminate trainer\n',
  );
});

test('puts a needed column below its row if it does not fit', async () => {
  const table: Block = {
    kind: 'table',
    columns: [
      { header: 'NAME' },
      { header: 'STATUS', kind: 'status' },
      { header: 'PER HOUR', kind: 'money' },
      { header: 'UNENFORCED DEADLINE', short: 'UNENFORCED', kind: 'status' },
      { header: 'AGE' },
    ],
    rows: [
      ['trainer', 'PROVISIONING', '89.90', 'in 3 h 59 min', '3 h'],
      ['lab', 'ACTIVE', '89.90', null, '2 h'],
    ],
    needed: 4,
    more: '1 more',
  };
  const rows = [
    'NAME     STATUS        PER HOUR',
    'trainer  PROVISIONING   89.90 ₽',
    '  UNENFORCED in 3 h 59 min',
    'lab      ACTIVE         89.90 ₽',
    '1 more',
  ];
  expect(await text([table], 40)).toBe(`${rows.join('\n')}\n`);
  expect(await text([table], 60)).toContain('PER HOUR  UNENFORCED DEADLINE  AGE\n');
});

test('continues a long command with a backslash, between words', async () => {
  const item: Block = {
    kind: 'items',
    items: [
      {
        text: 'It bills',
        command: 'gpucloud --profile sandbox instances terminate trainer --wait',
      },
    ],
  };
  expect(await text([item], 40)).toBe(
    '- It bills\n' +
      '    gpucloud --profile sandbox \\\n' +
      '      instances terminate trainer \\\n' +
      '      --wait\n',
  );
});

test('cuts a name or leaves out columns, but never cuts a status', async () => {
  const table: Block = {
    kind: 'table',
    columns: [
      { header: 'NAME' },
      { header: 'STATUS', kind: 'status' },
      { header: 'PER HOUR', kind: 'money' },
      { header: 'AGE' },
    ],
    rows: [['a-long-name-of-an-instance', 'TERMINATING', '89.90', '3 h']],
  };
  expect(await text([table], 40)).toBe(
    'NAME          STATUS       PER HOUR  AGE\na-long-name…  TERMINATING   89.90 ₽  3 h\n',
  );
  expect(await text([table], 30)).toBe(
    'NAME     STATUS       PER HOUR\na-long…  TERMINATING   89.90 ₽\n',
  );
});
