import { describe, expect, test } from 'vitest';
import type { Cell, Kind, View } from '../../src/output/output.ts';
import { eachRow, type Rows } from '../../src/output/rows.ts';
import { cleanData, escapeUnseen } from '../../src/output/sanitise.ts';
import { cellText, kindColour } from '../../src/output/table/kinds.ts';
import { layoutOf, lineOf, NO_CELL, type Shown } from '../../src/output/table/layout.ts';
import { fc, runs } from '../support/random.ts';
import { NOW, written } from './world.ts';

// The program prints plain ASCII cells unchecked, and checks JSON in batches. The output must be
// the same as without these shortcuts.

type Row = readonly Cell[];

const KINDS: readonly (Kind | undefined)[] = [undefined, 'time', 'status', 'money', 'text', 'yes'];

const view: View<Row> = {
  columns: KINDS.map((kind, at) => ({
    id: `c${at}`,
    header: `COLUMN ${at}`,
    ...(kind === undefined ? {} : { kind }),
    value: (row) => row[at],
  })),
  id: () => null,
  empty: '',
};

const odd = fc.string({
  unit: fc.constantFrom(
    ...[...'aZ0 -.,"\'\\~!#[+', '  ', '\\u', 'd83d'],
    ...['\t', '\n', '\r', '\u0000', '\u001b', '\u001b[31m', '\u007f', '\u0085', '\u00a0', '\u00ad'],
    ...['я', '₽', '漢', '😀', '\ud83d', '\ude00', '\u200d', '\u202e', '\u2028', '\u3000', '\ufeff'],
  ),
  maxLength: 12,
});
const text = fc.oneof(
  odd,
  fc.constantFrom('ACTIVE', 'ERROR', '89.90', '-1.5', '2026-03-01T11:00:00.000Z', '', ' ', '-'),
  fc.uuid(),
);
const cell: fc.Arbitrary<Cell> = fc.oneof(
  { weight: 6, arbitrary: text },
  fc.constantFrom(null, undefined, true, false, 0, -0, 12, 1e21, 0.1),
);
const row = fc.tuple(...KINDS.map(() => cell));
/** Rows, some of which repeat the previous row. */
const rows = fc
  .array(fc.tuple(row, fc.boolean()), { minLength: 1, maxLength: 15 })
  .map((given) => given.flatMap(([one, twice]) => (twice ? [one, [...one]] : [one])));

/** Enough rows for the line-by-line table. */
const BEFORE: readonly Row[] = Array.from({ length: 201 }, (_, at) => [
  `row ${at}`,
  '2026-03-01T11:00:00.000Z',
  'ACTIVE',
  '10.00',
  'x',
  true,
]);

async function* paged(...pages: (readonly Row[])[]) {
  yield* pages;
}

describe.each([
  ['in a pipe', undefined],
  ['in a terminal', { columns: 200 }],
  ['in a terminal that is nearly too narrow', { columns: 44 }],
])('a long table %s', (_name, terminal) => {
  test('prints a long table like cell-by-cell formatting does', async () => {
    const reader = { terminal: terminal !== undefined, now: () => NOW };
    const shown = (given: Row): Shown[] =>
      KINDS.map((kind, at) => {
        const value = given[at];
        const told = cellText(value, kind, reader);
        if (told === '') return NO_CELL;
        return { text: told, colour: kindColour(told, kind), numeric: typeof value === 'number' };
      });
    const layout = layoutOf(
      KINDS.map((kind) => ({ header: '', right: kind === 'money' })),
      BEFORE.map(shown),
      terminal?.columns ?? Number.POSITIVE_INFINITY,
    );
    await fc.assert(
      fc.asyncProperty(rows, async (given) => {
        const pages = paged(BEFORE, given);
        const { stdout } = await written(
          { header: false },
          (out) => out.list({ pages }, view),
          terminal,
        );
        const lines = given.map((one) => lineOf(shown(one), layout, (_colour, plain) => plain));
        expect(stdout.slice(-lines.join('').length)).toBe(lines.join(''));
        expect(stdout.split('\n').length).toBe(BEFORE.length + given.length + 1);
      }),
      { numRuns: runs(60) },
    );
  });
});

const instance = (value: Cell) => (value === null || value === undefined ? '' : String(value));

test('reads no further row once the reader is gone', async () => {
  async function* later() {
    yield* [1, 2];
  }
  async function* pages() {
    yield [1, 2];
    yield [3];
  }
  const taken: number[] = [];
  const sink = { ended: true, write: async () => undefined };
  for (const rows of [[1, 2], later(), { pages: pages() }]) {
    await eachRow<number>(rows as Rows<number>, sink, (row) => void taken.push(row));
  }
  expect(taken).toEqual([1, 1, 1]);
});

test('quotes csv fields only where necessary', async () => {
  const quoted = (told: string) =>
    /[",\r\n]/.test(told) || told.trim() !== told ? `"${told.replaceAll('"', '""')}"` : told;
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      const settings = { format: 'csv', header: false } as const;
      const { stdout } = await written(settings, (out) => out.list(given, view));
      const lines = given.map((one) =>
        one.map((value) => quoted(cleanData(instance(value)))).join(','),
      );
      expect(stdout).toBe(lines.map((line) => `${line}\n`).join(''));
    }),
  );
});

test('escapes tsv fields only where necessary', async () => {
  const escaped = (told: string) =>
    told
      .replaceAll('\\', '\\\\')
      .replaceAll('\t', '\\t')
      .replaceAll('\n', '\\n')
      .replaceAll('\r', '\\r');
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      const settings = { format: 'tsv', header: false } as const;
      const { stdout } = await written(settings, (out) => out.list(given, view));
      const lines = given.map((one) =>
        one.map((value) => escaped(cleanData(instance(value)))).join('\t'),
      );
      expect(stdout).toBe(lines.map((line) => `${line}\n`).join(''));
    }),
  );
});

const ODD_IN_JSON = ['\\ud83d', '\\', '\n', '\u001b', '\u007f', '\u0085', '\ud83d', '😀', '\u2028'];

const inJson = (key: fc.Arbitrary<string>, value: fc.Arbitrary<unknown>) =>
  fc.array(fc.dictionary(key, value), { minLength: 1, maxLength: 10 });

test.each<readonly [string, ReturnType<typeof inJson>]>([
  ['of any kind', inJson(odd, fc.oneof(text, fc.jsonValue({ maxDepth: 2 })))],
  // Each odd value alone must trigger the check of its batch.
  ...ODD_IN_JSON.map((one) => {
    const nearlyUsual = fc.string({ unit: fc.constantFrom('a', '"', one), maxLength: 4 });
    const named = one.length > 2 ? one : `U+${one.codePointAt(0)?.toString(16)}`;
    return [`with ${named}`, inJson(nearlyUsual, nearlyUsual)] as const;
  }),
])('prints JSON %s in batches as it does line by line', async (_name, things) => {
  const asItIs: View<unknown> = { columns: [], id: () => null, empty: '' };
  await fc.assert(
    fc.asyncProperty(things, async (given) => {
      const lines = await written({ format: 'jsonl' }, (out) => out.list(given, asItIs));
      const line = (thing: unknown) => `${escapeUnseen(JSON.stringify(thing))}\n`;
      expect(lines.stdout).toBe(given.map(line).join(''));
      const document = await written({ format: 'json' }, (out) => out.list(given, asItIs));
      expect(document.stdout).toBe(`${escapeUnseen(JSON.stringify(given, null, 2))}\n`);
    }),
  );
});
