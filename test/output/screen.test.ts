import { expect, test } from 'vitest';
import type { Colour } from '../../src/output/colour.ts';
import type { Block } from '../../src/output/output.ts';
import { screenText } from '../../src/output/table/screen.ts';
import { inZone } from '../support/in-zone.ts';
import { type Terminal, written } from './world.ts';

const COLOURS: readonly Colour[] = ['bold', 'dim', 'red', 'yellow', 'green', 'cyan'];

const STYLE = {
  // Codes of terminals, which no table measures.
  paint: (colour: Colour | undefined, text: string) =>
    colour === undefined ? text : `\u001b[${30 + COLOURS.indexOf(colour)}m${text}\u001b[39m`,
  bars: true,
  terminal: true,
  now: () => 0,
};

const text = async (blocks: readonly Block[], cells: number, more = {}) =>
  (await screenText(blocks, { ...STYLE, cells, ...more }))
    .replaceAll('\u001b[39m', '</>')
    .replaceAll(/\u001b\[3(\d)m/g, (_code, at) => `<${COLOURS[Number(at)]}>`);

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
    '<bold>Next</>\n' +
      '  connect      gpucloud instances ssh trainer\n' +
      '  stop paying  gpucloud instances terminate trainer\n',
  );
});

test('puts the commands below their labels on a narrow terminal', async () => {
  expect(await text([NEXT], 50)).toBe(
    '<bold>Next</>\n' +
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
      { header: 'PAID' },
      { header: 'AGE' },
    ],
    rows: [
      ['trainer', 'PROVISIONING', '89.90', 'in 3 h 59 min', '1 h', '3 h'],
      ['lab', 'ACTIVE', '89.90', null, `4 h${' and more'.repeat(5)}`, '2 h'],
      ['old', 'STOPPED', '1.00', 'now', null, '1 h'],
    ],
    needed: 5,
    more: '1 more',
  };
  const rows = [
    '<bold>NAME</>     <bold>STATUS</>        <bold>PER HOUR</>',
    'trainer  <yellow>PROVISIONING</>   89.90 ₽',
    '  UNENFORCED in 3 h 59 min',
    '  PAID 1 h',
    'lab      <green>ACTIVE</>         89.90 ₽',
    '  PAID 4 h and more and more and more a…',
    'old      <dim>STOPPED</>         1.00 ₽',
    '  UNENFORCED now',
    '<dim>1 more</>',
  ];
  expect(await text([table], 40)).toBe(`${rows.join('\n')}\n`);
  expect(await text([{ ...table, rows: table.rows.slice(0, 1) }], 63)).toBe(
    '<bold>NAME</>     <bold>STATUS</>        <bold>PER HOUR</>  <bold>UNENFORCED DEADLINE</>  <bold>PAID</>  <bold>AGE</>\n' +
      'trainer  <yellow>PROVISIONING</>   89.90 ₽  in 3 h 59 min        1 h   3 h\n' +
      '<dim>1 more</>\n',
  );
});

test('leaves out a column that would be too narrow to read, and keeps two', async () => {
  const table: Block = {
    kind: 'table',
    columns: [{ header: 'A' }, { header: 'B' }, { header: 'C' }],
    rows: [['a', 'b'.repeat(16), 'c'.repeat(16)]],
  };
  const two = `<bold>A</>  <bold>B</>\na  ${'b'.repeat(16)}\n`;
  expect(await text([{ ...table, needed: 2 }], 20)).toBe(two);
  expect(await text([{ ...table, needed: 3 }], 20)).not.toBe(two);
  expect(await text([table], 5)).toBe('<bold>A</>  <bold>B</>\na  bbbbb…\n');
});

test('leaves out a last bar before it cuts other cells', async () => {
  const columns = [{ header: 'NAME' }, { header: 'LOAD', kind: 'bar' }] as const;
  const table: Block = { kind: 'table', columns, rows: [['trainer', 1]] };
  const wide = await text([table], 99);
  const cells = Math.max(...wide.split('\n').map((line) => line.replace(/<.*?>/g, '').length));
  expect(await text([table], cells)).toBe(wide);
  expect(await text([table], cells - 1)).toBe('<bold>NAME</>\ntrainer\n');
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
    '<bold>NAME</>          <bold>STATUS</>       <bold>PER HOUR</>  <bold>AGE</>\na-long-name…  <yellow>TERMINATING</>   89.90 ₽  3 h\n',
  );
  expect(await text([table], 30)).toBe(
    '<bold>NAME</>     <bold>STATUS</>       <bold>PER HOUR</>\na-long…  <yellow>TERMINATING</>   89.90 ₽\n',
  );
});

test.each<[number, string[]]>([
  [50, ['a     100.00  <cyan>████████████████████████████████████</>', 'long    0.50  <cyan>▏</>']],
  [22, ['a     100.00  <cyan>████████</>', 'long    0.50  <cyan>▏</>']],
  [21, ['a     100.00', 'long    0.50']],
  [Number.POSITIVE_INFINITY, ['a     100.00', 'long    0.50']],
  [200, [`a     100.00  <cyan>${'█'.repeat(100)}</>`, 'long    0.50  <cyan>▌</>']],
])('draws bars on %i cells', async (cells, lines) => {
  const bars = [
    { label: 'a', value: '100.00', share: 1 },
    { label: 'long', value: '0.50', share: 0.005 },
    { label: 'none', value: '0.00', share: 0 },
  ];
  const block: Block = { kind: 'bars', bars };
  const all = ['<bold>By day</>', ...lines, 'none    0.00', ''].join('\n');
  expect(await text([{ ...block, heading: 'By day' }], cells)).toBe(all);
  const plain = [...lines, 'none    0.00', ''].join('\n').replace(/ {2}<cyan>.*<\/>/g, '');
  expect(await text([block], cells, { bars: false })).toBe(plain);
});

test('colours facts, items and what follows a table, and leaves out what is empty', async () => {
  const blocks: Block[] = [
    { kind: 'facts', heading: 'Empty', facts: [{ label: 'a', text: '' }] },
    {
      kind: 'facts',
      facts: [
        { label: 'Balance', text: '-5.00 ₽', colour: 'red' },
        { label: 'None', text: '' },
      ],
    },
    {
      kind: 'items',
      heading: 'Problems',
      items: [{ text: 'one two three four-and-five-and-six', colour: 'yellow' }],
    },
    { kind: 'items', heading: 'No problems', items: [] },
    { kind: 'table', heading: 'None', columns: [{ header: 'NAME' }], rows: [] },
    { kind: 'table', columns: [{ header: 'NAME' }], rows: [], more: 'and 2 more' },
  ];
  expect(await text(blocks, 16)).toBe(
    [
      ...['Balance  <red>-5.00 ₽</>', ''],
      ...['<bold>Problems</>', '- <yellow>one two three</>', '  <yellow>four-and-five…</>', ''],
      ...['<dim>and 2 more</>', ''],
    ].join('\n'),
  );
});

test.each<[string, Terminal | undefined, number | undefined, string[]]>([
  [
    'on a terminal',
    { columns: 40 },
    undefined,
    ['NAME  LOAD     PRICE  SINCE', 'lab   █████  89.90 ₽  3 min ago'],
  ],
  [
    'as of another time',
    { columns: 40 },
    Date.parse('2026-03-01T11:58:00Z'),
    ['NAME  LOAD     PRICE  SINCE', 'lab   █████  89.90 ₽  1 min ago'],
  ],
  [
    'on a dumb terminal',
    { columns: 40, env: { TERM: 'dumb' } },
    undefined,
    ['NAME    PRICE  SINCE', 'lab   89.90 ₽  3 min ago'],
  ],
  [
    'without a rouble sign',
    { columns: 40, env: { LC_ALL: 'C' } },
    undefined,
    ['NAME  LOAD       PRICE  SINCE', 'lab   █████  89.90 RUB  3 min ago'],
  ],
  ['in a pipe', undefined, undefined, ['NAME  PRICE  SINCE', 'lab   89.90  2026-03-01 11:57:00']],
])('draws a screen %s', async (where, terminal, now, table) => {
  const blocks: Block[] = [
    { kind: 'facts', facts: [{ label: 'Price', text: '1 ₽' }] },
    {
      kind: 'table',
      columns: [
        { header: 'NAME' },
        { header: 'LOAD', kind: 'bar' },
        { header: 'PRICE', kind: 'money' },
        { header: 'SINCE', kind: 'time' },
      ],
      rows: [['lab', 50, '89.90', '2026-03-01T11:57:00Z']],
    },
  ];
  const { stdout } = await written({}, (out) => out.screen(blocks, now), terminal);
  const price = where === 'without a rouble sign' ? '1 RUB' : '1 ₽';
  expect(stdout).toBe(inZone([`Price  ${price}`, '', ...table, ''].join('\n')));
});
