import type { Meta } from '../api/index.ts';
import type { Context } from '../context.ts';
import type { View } from '../output/output.ts';

/** One page of a list: what was requested and what was returned. */
interface OnePage {
  readonly meta: Meta;
  /** Rows in the response, before local filters. */
  readonly rows: number;
  /** The requested page; undefined if none was requested and the service returned the first. */
  readonly asked: number | undefined;
  /** The kind of rows: `transactions`. */
  readonly what: string;
}

/** The view of a page; one past the end does not claim that the list is empty. */
export function pageView<T>(view: View<T>, page: OnePage): View<T> {
  const past = pastEnd(page);
  return past === undefined ? view : { ...view, empty: past };
}

/**
 * Reports pages that are not shown. Outside tables it is a warning, which `-q` shows too: adding up
 * the rows of one page must not look complete. No report with --page, which shows that the user knows.
 * --limit alone does not: it may have been meant as a page size.
 */
export function noteOtherPages(page: OnePage, { out, err }: Context): void {
  const { meta, asked, what } = page;
  const past = pastEnd(page);
  if (past !== undefined) {
    // A table already shows it in place of its rows.
    if (out.format !== 'table') err.note(past);
    return;
  }
  if (meta.page >= meta.total_pages) return;
  const text = `Page ${meta.page} of ${meta.total_pages} (${meta.total} ${what}): --page ${meta.page + 1} for the next, --all for all.`;
  if (out.format !== 'table' && asked === undefined) err.warn('more_pages', text);
  else err.note(text);
}

function pastEnd({ meta: { page, total, total_pages: pages }, rows }: OnePage): string | undefined {
  return rows > 0 || total === 0 || page <= pages ? undefined : `Page ${page} is past the end.`;
}
