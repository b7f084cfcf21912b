import { describe, expect, it } from 'vitest';
import { chosenColumns } from '../../src/output/forms.ts';
import { checkColumns, parseFormat, wantsColour } from '../../src/output/index.ts';
import type { Output } from '../../src/output/output.ts';
import { type Instance, instances, Page, streamed, view, written } from './world.ts';

const VALID = 'id, name, status, price, gpus, paid_until, used, size, default';

describe('--columns', () => {
  it.each([
    [{ columns: ['id', 'IDS'] }, `--columns: unknown column 'IDS'; available columns: ${VALID}`],
    [{ columns: [] }, `--columns needs at least one of: ${VALID}`],
    [{ sort: 'prize' }, `--sort: unknown column 'prize'; available columns: ${VALID}`],
    [{ sort: '-' }, `--sort: unknown column ''; available columns: ${VALID}`],
  ])('rejects an unknown column in --columns before any output: %j', async (settings, message) => {
    const refusal = { failure: 'usage', message };
    expect(() => checkColumns(view, settings)).toThrow(expect.objectContaining(refusal));
    const acts: ((out: Output) => Promise<void>)[] = [
      (out) => out.list(instances, view),
      (out) => out.list(streamed(instances), view),
      (out) => out.item(instances[0] as Instance, view),
    ];
    for (const act of acts) {
      for (const format of ['table', 'json', 'id', 'csv'] as const) {
        const page = written({ ...settings, format }, async (out) => {
          await expect(act(out)).rejects.toMatchObject(refusal);
        });
        expect((await page).stdout).toBe('');
      }
    }
  });

  it('accepts visible and hidden columns in --columns', () => {
    expect(() => checkColumns(view, { columns: ['used', 'id'], sort: '-size' })).not.toThrow();
  });

  it("accepts a column's first word in --columns if only one matches", () => {
    expect(chosenColumns(view, { columns: ['paid', 'NAME'] }).map(({ id }) => id)).toEqual([
      'paid_until',
      'name',
    ]);
    const both = { ...view, columns: [...view.columns, { ...view.columns[0], id: 'paid_for' }] };
    expect(() => checkColumns(both as typeof view, { columns: ['paid'] })).toThrow("'paid'");
  });

  it('limits the fields of objects in JSON to --columns', async () => {
    const settings = { format: 'jsonl', columns: ['price', 'paid_until', 'size'] } as const;
    const { stdout } = await written(settings, (out) => out.list(instances, view));
    expect(stdout).toBe(
      '{"price":"89.9","paid_until":"2026-03-01T12:52:30Z","size":500}\n' +
        '{"price":"1250.123456789012345678","paid_until":null,"size":50}\n',
    );
  });
});

describe('sorting', () => {
  const rows = (
    [
      ['b', '100.5', '10', '2026-03-02T00:00:00Z', 10, '20', true],
      ['A', '99.123456789012345679', '9', null, 9, '3.5', true],
      [
        'c',
        '99.123456789012345678',
        '9007199254740993',
        '2026-03-01T23:00:00-05:00',
        100,
        '',
        false,
      ],
      ['a', 'odd', '9007199254740992', 'soon', 9, '3', true],
    ] as const
  ).map(([name, price, used_bytes, paid_until, gpus, size_gb, is_default]) => ({
    ...(instances[0] as Instance),
    name,
    price,
    used_bytes,
    paid_until,
    gpus,
    size_gb: size_gb as unknown as number,
    is_default,
  }));

  it.each([
    ['name', 'A a b c'],
    ['-name', 'c b a A'],
    ['gpus', 'A a b c'],
    ['-gpus', 'c b A a'],
    ['used', 'A b a c'],
    ['-used', 'c a b A'],
    ['size', 'a A b c'],
    ['default', 'c b A a'],
    ['paid_until', 'b c a A'],
    ['-paid_until', 'a c b A'],
    ['price', 'c A b a'],
    ['-price', 'a b A c'],
  ])('sorts rows by %s', async (sort, expected) => {
    for (const given of [rows, streamed(rows)]) {
      const settings = { format: 'tsv', header: false, columns: ['name'], sort } as const;
      const { stdout } = await written(settings, (out) => out.list(given, view));
      expect(stdout.trim().split('\n').join(' ')).toBe(expected);
    }
  });
});

describe('parseFormat', () => {
  it('accepts each format, and rejects others with a list of the valid ones', () => {
    expect(parseFormat('jsonl')).toBe('jsonl');
    expect(() => parseFormat('xml', 'GPUCLOUD_OUTPUT')).toThrow(
      expect.objectContaining({
        failure: 'usage',
        message:
          "GPUCLOUD_OUTPUT: unknown format 'xml'; available formats: table, json, jsonl, csv, tsv, yaml, id",
      }),
    );
  });
});

describe('wantsColour', () => {
  const terminal = new Page({ columns: 80 });
  const pipe = new Page();

  it.each([
    [terminal, {}, undefined, true],
    [pipe, {}, undefined, false],
    [terminal, {}, 'auto', true],
    [terminal, { TERM: 'dumb' }, 'auto', false],
    [terminal, { NO_COLOR: '1' }, 'auto', false],
    [terminal, { NO_COLOR: '' }, 'auto', true],
    [pipe, { FORCE_COLOR: '1' }, 'auto', true],
    [pipe, { FORCE_COLOR: '' }, 'auto', true],
    [terminal, { FORCE_COLOR: '0' }, 'auto', false],
    [terminal, { FORCE_COLOR: 'false' }, 'auto', false],
    [terminal, { FORCE_COLOR: '1', NO_COLOR: '1' }, 'auto', false],
    [pipe, { NO_COLOR: '1', TERM: 'dumb' }, 'always', true],
    [terminal, { FORCE_COLOR: '1' }, 'never', false],
    [terminal, { FORCE_COLOR: '1' }, false, false],
  ] as const)('returns the documented colour choice for case %#', (stream, env, flag, expected) => {
    expect(wantsColour(stream, env, flag)).toBe(expected);
  });
});
