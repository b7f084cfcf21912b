/** One page of a list (API document: Conventions, pagination object). */
interface ListPage {
  readonly data: readonly unknown[];
  readonly meta: { readonly limit: number; readonly total_pages: number };
}

interface NumberedPage<P> {
  /** The page number, from 1. */
  readonly number: number;
  readonly page: P;
  readonly isLast: boolean;
}

/**
 * Reads a list page by page. With `ahead`, loads the next page while the caller uses the current
 * one. Never loads two pages at once: a row that moves between them could be missing from both.
 */
export async function* pagesOf<P extends ListPage>(
  read: (page: number) => Promise<P>,
  { ahead = false }: { readonly ahead?: boolean } = {},
): AsyncGenerator<NumberedPage<P>> {
  let next: Promise<P> | undefined;
  for (let number = 1; ; number += 1) {
    const page = await (next ?? read(number));
    next = undefined;
    const isLast = isLastPage(number, page);
    if (ahead && !isLast) {
      next = read(number + 1);
      // Avoids an unhandled rejection if the caller stops before the await above.
      next.catch(() => undefined);
    }
    yield { number, page, isLast };
    if (isLast) return;
  }
}

/** Ignores a `total_pages` of 0 if there are rows: the last page is the one that is not full. */
function isLastPage(number: number, { data, meta }: ListPage): boolean {
  if (data.length === 0) return true;
  return meta.total_pages > 0 ? number >= meta.total_pages : data.length < meta.limit;
}
