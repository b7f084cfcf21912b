import type { Meta } from '../api/index.ts';
import type { Context } from '../context.ts';
import type { View } from '../output/output.ts';

/** One page of a list, as it was asked for and as it came. */
interface OnePage {
  readonly meta: Meta;
  /** Rows that came, before any of them were left out here. */
  readonly rows: number;
  /** The page that was asked for; undefined where none was, and the service gave the first. */
  readonly asked: number | undefined;
  /** What the rows are: `transactions`. */
  readonly what: string;
}

/** The view of a page; one past the end does not say that there is nothing at all. */
export function pageView<T>(view: View<T>, page: OnePage): View<T> {
  const past = pastEnd(page);
  return past === undefined ? view : { ...view, empty: past };
}

/**
 * Reports the pages that were not asked for. Outside tables it is a warning, which `-q` shows too:
 * whoever adds up the rows must not take a part for the whole. Whoever named a page knows that it is
 * one of several. A --limit alone is no such word: it may have been meant as the size of a page.
 */
export function noteOtherPages(page: OnePage, { out, err }: Context): void {
  const { meta, asked, what } = page;
  const past = pastEnd(page);
  if (past !== undefined) {
    // A table has said so in the place of its rows.
    if (out.format !== 'table') err.note(past);
    return;
  }
  if (meta.page >= meta.total_pages) return;
  const text = `Page ${meta.page} of ${meta.total_pages} (${meta.total} ${what}): --page ${meta.page + 1} for the next, --all for all.`;
  if (out.format !== 'table' && asked === undefined) err.warn('more_pages', text);
  else err.note(text);
}

function pastEnd({ meta, rows, what }: OnePage): string | undefined {
  const { page, limit, total, total_pages: pages } = meta;
  if (rows > 0 || total === 0 || page <= pages) return undefined;
  // Without a word of the service the counts are worked out from the page that was asked for.
  const isWorkedOut = pages === page - 1 && total === pages * limit;
  return isWorkedOut
    ? `Page ${page} is past the end.`
    : `Page ${page} is past the end: the last is page ${pages} (${total} ${what}).`;
}
