import type { Meta } from '../api/index.ts';
import type { Context } from '../context.ts';
import type { View } from '../output/output.ts';

/** The requested page and the returned page of a list. */
interface OnePage {
  readonly meta: Meta;
  /** Rows in the response, before local filters. */
  readonly rows: number;
  /**
   * The requested page. Undefined if none was requested; the service then returns the first page.
   */
  readonly asked: number | undefined;
  /** Row kind, such as `transactions`. */
  readonly what: string;
}

/** Describes an empty page past the end without claiming that the whole list is empty. */
export function pageView<T>(view: View<T>, page: OnePage): View<T> {
  const past = pastEnd(page);
  return past === undefined ? view : { ...view, empty: past };
}

/**
 * Reports omitted pages. Outside tables it warns even with `-q`: a sum over one page must not look
 * complete. With --page a note is enough, since the user chose the page. With --limit alone it
 * warns, since the user may expect all rows.
 */
export function noteOtherPages(page: OnePage, { out, err }: Context): void {
  const { meta, asked, what } = page;
  const past = pastEnd(page);
  if (past !== undefined) {
    // A table shows this text in place of its rows.
    if (out.format !== 'table') err.note(past);
    return;
  }
  if (meta.page >= meta.total_pages) return;
  const text = `Page ${meta.page} of ${meta.total_pages} (${meta.total} ${what}): --page ${meta.page + 1} for the next, --all for all.`;
  if (out.format !== 'table' && asked === undefined) err.warn('more_pages', text);
  else err.note(text);
}

function pastEnd({ meta: { page, total }, rows }: OnePage): string | undefined {
  return rows > 0 || total === 0 ? undefined : `Page ${page} is past the end.`;
}
