import { describe, expect, test } from 'vitest';
import { pagesOf } from '../../src/api/pages.ts';

interface Page {
  readonly data: readonly number[];
  readonly meta: {
    readonly limit: number;
    readonly total: number;
    readonly total_pages: number;
    readonly isCounted: boolean;
  };
}

/** Creates a list of `total` rows, in pages of two. */
function list(total: number, { counted = true } = {}) {
  const asked: number[] = [];
  const read = async (page: number): Promise<Page> => {
    asked.push(page);
    const data = Array.from({ length: total }, (_, at) => at).slice((page - 1) * 2, page * 2);
    const total_pages = counted ? Math.ceil(total / 2) : 0;
    return { data, meta: { limit: 2, total, total_pages, isCounted: counted } };
  };
  return { asked, read };
}

/** Pages with these rows; a number or missing total per page. */
function pages(...all: readonly [data: readonly number[], total?: number, more?: object][]) {
  return async (page: number): Promise<Page> => {
    const [data, total, more] = all[page - 1] ?? [[], all[0]?.[1]];
    const isCounted = total !== undefined;
    const total_pages = isCounted ? Math.ceil(total / 2) : 0;
    return { data, meta: { limit: 2, total: total ?? 0, total_pages, isCounted, ...more } };
  };
}

const WALK = { what: 'rows', idOf: (row: number) => String(row) };

async function rowsOf(read: (page: number) => Promise<Page>, ahead = false): Promise<number[]> {
  const rows: number[] = [];
  for await (const { fresh } of pagesOf(read, { ...WALK, ahead })) rows.push(...fresh);
  return rows;
}

/** Returns the rows and the error of a walk. */
async function walk(read: (page: number) => Promise<Page>) {
  const rows: number[] = [];
  try {
    for await (const { fresh } of pagesOf(read, WALK)) rows.push(...fresh);
    return { rows, fault: undefined };
  } catch (error) {
    return { rows, fault: (error as Error).message };
  }
}

describe('reading a list page by page', () => {
  test.each([0, 1, 2, 3, 4])(
    'reads each of %i rows once and stops at the last page',
    async (total) => {
      const { asked, read } = list(total);
      expect(await rowsOf(read)).toEqual(Array.from({ length: total }, (_, at) => at));
      expect(asked).toHaveLength(Math.max(1, Math.ceil(total / 2)));
    },
  );

  test('reads to an empty page if the service sends no count', async () => {
    const { asked, read } = list(3, { counted: false });
    expect(await rowsOf(read)).toEqual([0, 1, 2]);
    expect(asked).toEqual([1, 2, 3]);
  });

  const COMPLETE: [string, (page: number) => Promise<Page>, number[]][] = [
    ['total_pages is too high', pages([[0, 1], 2, { total_pages: 9 }]), [0, 1]],
    ['rows arrive during the read', pages([[3, 2], 4], [[2, 1], 5], [[0], 5]), [3, 2, 1, 0]],
    ['a page is shorter than requested, without a count', pages([[0]], [[1]]), [0, 1]],
    ['the service does not page, and sends no count', pages([[0, 1, 2]]), [0, 1, 2]],
    ['the service repeats its only page, without a count', pages([[0]], [[0]], [[0]]), [0]],
  ];
  test.each(COMPLETE)('accepts a list if %s', async (_what, read, rows) => {
    expect(await walk(read)).toEqual({ rows, fault: undefined });
  });

  const missing = (expected: number, given: number) =>
    `The service reports ${expected} rows but returned ${given}, so the list is incomplete.`;
  const INCOMPLETE: [string, (page: number) => Promise<Page>, number[], string][] = [
    ['a page is short', pages([[0, 1], 4], [[2], 5], [[], 5]), [0, 1, 2], missing(4, 3)],
    ['a page is empty', pages([[0, 1], 6], [[], 6], [[4, 5], 6]), [0, 1], missing(6, 2)],
    ['total_pages is too low', pages([[0, 1], 40, { total_pages: 1 }]), [0, 1], missing(40, 2)],
    ['a page repeats another', pages([[0, 1], 4], [[0, 1], 4]), [0, 1], missing(4, 2)],
    ['a later page has no count', pages([[0, 1], 5], [[2, 3]]), [0, 1, 2, 3], missing(5, 4)],
    [
      'it becomes shorter',
      pages([[0, 1], 4], [[3], 3]),
      [0, 1, 3],
      'The list of rows became shorter during the read, so rows may be missing. Run the command again.',
    ],
    [
      'every full page is the same, without a count',
      async () => await pages([[0, 1]])(1),
      [0, 1],
      "The service repeats the same rows on every page (page 6), so the list can't be read.",
    ],
  ];
  test.each(INCOMPLETE)('throws at the end of a list if %s', async (_what, read, rows, fault) => {
    expect(await walk(read)).toEqual({ rows, fault });
  });

  test('checks nothing if the caller needs no whole list', async () => {
    for await (const { fresh } of pagesOf(pages([[0, 1], 40, { total_pages: 1 }]), WALK)) {
      expect(fresh).toEqual([0, 1]);
      break;
    }
  });

  test.each([
    [false, [1]],
    [true, [1, 2]],
  ])('prefetches one page only with `ahead` (ahead %s: requests %j)', async (ahead, expected) => {
    const { asked, read } = list(8);
    await pagesOf(read, { ...WALK, ahead }).next();
    expect(asked).toEqual(expected);
  });

  test('throws the error of a prefetched page', async () => {
    const { read } = list(4);
    const failing = (page: number) => (page === 2 ? Promise.reject(new Error('lost')) : read(page));
    await expect(rowsOf(failing, true)).rejects.toThrow('lost');
  });
});
