import { createRequire } from 'node:module';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import type { View } from '../../src/output/output.ts';
import { width, widthIsUndisputed } from '../../src/output/width.ts';
import { runs, some } from '../support/random.ts';
import { turns } from '../support/until.ts';
import { type Instance, instances, outputOn, Page, streamed, view, written } from './world.ts';

interface Row {
  name: string;
  note: string;
}

const names: View<Row> = {
  columns: [
    { id: 'name', header: 'NAME', value: (row) => row.name },
    { id: 'note', header: 'NOTE', value: (row) => row.note },
  ],
  id: (row) => row.name,
  empty: 'none',
};

describe('a table in a terminal', () => {
  it('colours the header and the status of a table', async () => {
    const { stdout } = await written(
      { columns: ['name', 'status'] },
      (out) => out.list(instances, view),
      { columns: 100, colour: true },
    );
    expect(stdout).toBe(
      [
        '\u001b[1mNAME\u001b[22m        \u001b[1mSTATUS\u001b[22m',
        'trainer     \u001b[32mACTIVE\u001b[39m',
        'Ночной бот  \u001b[2mSTOPPED\u001b[22m',
        '',
      ].join('\n'),
    );
  });

  it('truncates the widest text but never an amount', async () => {
    const rows = [{ ...(instances[0] as Instance), name: 'x'.repeat(5000), price: '123456789.01' }];
    const columns = ['id', 'name', 'price'];
    const { stdout } = await written({ columns }, (out) => out.list(rows, view), { columns: 40 });
    expect(stdout).toBe(
      [
        'ID    NAME                       PRICE/H',
        `a1b2  ${'x'.repeat(15)}…  123,456,789.01 ₽`,
        '',
      ].join('\n'),
    );
  });

  it('prints whole values in a pipe', async () => {
    const name = 'x'.repeat(5000);
    const { stdout } = await written({}, (out) => out.list([{ name, note: 'end' }], names));
    expect(stdout).toBe(`NAME${' '.repeat(4996)}  NOTE\n${name}  end\n`);
  });

  it.each([
    ['COLUMNS', { COLUMNS: '20' }, `${'x'.repeat(14)}…`],
    ['the whole text without COLUMNS', {}, 'x'.repeat(50)],
    ['the whole text with an invalid COLUMNS', { COLUMNS: '-3' }, 'x'.repeat(50)],
  ])('falls back to %s for an unknown width', async (_what, env, shown) => {
    const row = { name: 'x'.repeat(50), note: 'end' };
    const { stdout } = await written({ header: false }, (out) => out.list([row], names), {
      columns: 0,
      env,
    });
    expect(stdout).toBe(`${shown}  end\n`);
  });
});

/**
 * Counts the cells of a line independently: East Asian wide characters and emoji take two,
 * combining marks none.
 */
function cellsOf(text: string): number {
  let cells = 0;
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) {
    const wide =
      /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/.test(
        segment,
      ) || /^\p{Emoji_Presentation}|\ufe0f/u.test(segment);
    cells += wide ? 2 : 1;
  }
  return cells;
}

describe('a table with wide characters', () => {
  const rows = [
    { name: 'plain', note: '|' },
    { name: '机器学习', note: '|' },
    { name: '🚀🔥 go', note: '|' },
    { name: 'Обучение', note: '|' },
    { name: '한국어', note: '|' },
    { name: 'e\u0301te\u0301', note: '|' },
    { name: '❤️ heart', note: '|' },
    { name: '🇷🇺 flag', note: '|' },
    { name: '👩🏽 tone', note: '|' },
    { name: 'นี่', note: '|' },
  ];

  it.each([
    ['a pipe', undefined],
    ['a terminal', { columns: 80 }],
  ])('aligns columns with wide characters in %s', async (_where, terminal) => {
    const { stdout } = await written({ header: false }, (out) => out.list(rows, names), terminal);
    const lines = stdout.split('\n').slice(0, -1);
    expect(lines).toHaveLength(rows.length);
    const edges = new Set(lines.map((line) => cellsOf(line.slice(0, line.indexOf('|')))));
    expect([...edges]).toEqual([10]);
  });

  it('aligns truncated columns with wide characters', async () => {
    const long = rows.map(({ name, note }) => ({ name: `${name} and a long tail`, note }));
    const { stdout } = await written({ header: false }, (out) => out.list(long, names), {
      columns: 13,
    });
    const lines = stdout.split('\n').slice(0, -1);
    expect(lines).toHaveLength(rows.length);
    for (const line of lines) expect(cellsOf(line)).toBe(13);
    expect(lines[1]).toBe('机器学习 …  |');
  });

  it('measures undisputed characters as cli-table3 does', () => {
    const require = createRequire(import.meta.url);
    const ofTable = createRequire(require.resolve('cli-table3'))('string-width') as (
      text: string,
    ) => number;
    const disputed: string[] = [];
    for (const code of some(some(Array.from({ length: 0xffe0 }, (_, at) => at + 0x20)))) {
      const text = String.fromCharCode(code);
      if (!widthIsUndisputed(text)) continue;
      if (ofTable(text) !== stringWidth(text) || width(text) !== stringWidth(text)) {
        disputed.push(code.toString(16));
      }
    }
    expect(disputed).toEqual([]);
  });
});

describe('a long table', () => {
  const row = (at: number): Row => ({ name: `n${at}`, note: `note ${at}` });
  const many = (count: number) => Array.from({ length: count }, (_, at) => row(at));

  it.each([undefined, { columns: 80 }])(
    'prints a table the same way just below and above 200 rows',
    async (terminal) => {
      const [short, long] = await Promise.all(
        [200, 201].map((count) => written({}, (out) => out.list(many(count), names), terminal)),
      );
      expect(long?.stdout).toBe(`${short?.stdout}n200  note 200\n`);
    },
  );

  it('prints many aligned rows in few writes', async () => {
    const rows = runs(100_000, 20_000);
    const { stdout, page } = await written({}, (out) => out.list(many(rows), names), {
      columns: 80,
    });
    const width = `n${rows - 1}`.length;
    const lines = stdout.split('\n');
    expect(lines).toHaveLength(rows + 2);
    expect(lines[0]).toBe(`${'NAME'.padEnd(width)}  NOTE`);
    expect(lines[1]).toBe(`${'n0'.padEnd(width)}  note 0`);
    expect(lines[rows]).toBe(`n${rows - 1}  note ${rows - 1}`);
    expect(page.writes).toBeLessThan(rows / 1_500);
  });

  it("sets a table's column widths from the first rows while more arrive", async () => {
    const { stdout } = await written({}, (out) => out.list(streamed(many(1001)), names), {
      columns: 80,
    });
    const lines = stdout.split('\n');
    expect(lines[0]).toBe('NAME  NOTE');
    expect(lines[201]).toBe('n200  note 200');
    expect(lines[1001]).toBe('n1000  note 1000');
  });

  it('measures all rows of a short table, however slowly they arrive', async () => {
    async function* slow() {
      yield { name: 'one', note: 'a' };
      await turns();
      yield { name: 'a longer one', note: 'b' };
    }
    const { stdout } = await written({}, (out) => out.list(slow(), names));
    expect(stdout).toBe('NAME          NOTE\none           a\na longer one  b\n');
  });
});

describe('a live table', () => {
  it('flushes a live table on request', async () => {
    for (const format of ['table', 'json', 'jsonl', 'yaml', 'csv', 'id'] as const) {
      const page = new Page();
      const out = outputOn(page, { format });
      let flush = async () => false;
      async function* happening() {
        yield { name: 'one', note: 'a' };
        expect(await flush(), format).toBe(true);
        expect(page.text, format).toMatch(/one|a/);
      }
      await out.list(happening(), names, {
        live: true,
        onFlush(given) {
          flush = given;
        },
      });
    }
  });

  it('reserves minimum column widths, and never truncates a line', async () => {
    const page = new Page();
    const out = outputOn(Object.assign(page, { isTTY: true, columns: 30 }), {});
    const view = {
      ...names,
      columns: names.columns.map((column) =>
        column.id === 'name' ? { ...column, least: 8 } : column,
      ),
    };
    const long = 'a note that is longer than the line of the terminal';
    async function* happening() {
      yield { name: 'one', note: 'a' };
      await page.written('one');
      yield { name: 'eleven', note: long };
    }
    await out.list(happening(), view, { live: true });
    expect(page.text).toBe(`NAME      NOTE\none       a\neleven    ${long}\n`);
  });

  it('prints each row of a live table as it arrives', async () => {
    const page = new Page();
    const out = outputOn(page, {});
    const seen: string[] = [];
    async function* happening() {
      yield { name: 'one', note: 'a' };
      yield { name: 'two', note: 'b' };
      await page.written('two');
      seen.push(page.text);
      yield { name: 'a longer one', note: 'c' };
      await page.written('longer');
      seen.push(page.text);
    }
    await out.list(happening(), names, { live: true });
    const burst = 'NAME  NOTE\none   a\ntwo   b\n';
    expect(seen).toEqual([burst, `${burst}a longer one  c\n`]);
    expect(page.text).toBe(seen[1]);
  });

  it('prints a row once if a list is already complete', async () => {
    const { stdout } = await written({}, async (out) => {
      await out.list(streamed([{ name: 'one', note: 'a' }]), names, { live: true });
      await turns();
    });
    expect(stdout).toBe('NAME  NOTE\none   a\n');
  });
});
