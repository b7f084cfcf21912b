import { describe, expect, test } from 'vitest';
import { pagesOf } from '../../src/api/pages.ts';

/** Creates a list of `total` rows, in pages of two. */
function list(total: number, { counted = true } = {}) {
  const asked: number[] = [];
  const read = async (page: number) => {
    asked.push(page);
    const rows = Array.from({ length: total }, (_, at) => at).slice((page - 1) * 2, page * 2);
    return { data: rows, meta: { limit: 2, total_pages: counted ? Math.ceil(total / 2) : 0 } };
  };
  return { asked, read };
}

async function rowsOf(walk: ReturnType<typeof pagesOf>): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const { page } of walk) rows.push(...page.data);
  return rows;
}

describe('reading a list page by page', () => {
  test.each([0, 1, 2, 3, 4])(
    'reads each of %i rows once and stops at the last page',
    async (total) => {
      const { asked, read } = list(total);
      expect(await rowsOf(pagesOf(read))).toEqual(Array.from({ length: total }, (_, at) => at));
      expect(asked).toHaveLength(Math.max(1, Math.ceil(total / 2)));
    },
  );

  test('treats a partly filled page as the last if the service sends no count', async () => {
    const { asked, read } = list(3, { counted: false });
    expect(await rowsOf(pagesOf(read))).toEqual([0, 1, 2]);
    expect(asked).toEqual([1, 2]);
  });

  test('stops reading at an empty page, even if total_pages is higher', async () => {
    const pages: number[] = [];
    const read = async (page: number) => {
      pages.push(page);
      return { data: page === 1 ? [0, 1] : [], meta: { limit: 2, total_pages: 9 } };
    };
    expect(await rowsOf(pagesOf(read))).toEqual([0, 1]);
    expect(pages).toEqual([1, 2]);
  });

  test.each([
    [false, [1]],
    [true, [1, 2]],
  ])('prefetches one page only with `ahead` (ahead %s: requests %j)', async (ahead, expected) => {
    const { asked, read } = list(8);
    await pagesOf(read, { ahead }).next();
    expect(asked).toEqual(expected);
  });

  test('throws the error of a prefetched page', async () => {
    const { read } = list(4);
    const failing = (page: number) => (page === 2 ? Promise.reject(new Error('lost')) : read(page));
    await expect(rowsOf(pagesOf(failing, { ahead: true }))).rejects.toThrow('lost');
  });
});
