import type { Api, CallOptions, Transaction, TransactionsQuery } from '../api/index.ts';
import { pagesOf } from '../api/pages.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { instant } from '../output/time.ts';

/** Page size to request. The service may return less; its maximum is not documented. */
const PAGE = 100;

/**
 * Number of IDs to remember, besides two pages: during a walk, new transactions push older
 * transactions onto the next page. Remembering more would grow the heap on a long history.
 */
const REMEMBERED = 1000;

/** Stops after this many pages in a row without a new transaction: the service ignores `page`. */
const STUCK = 5;

/**
 * Yields the whole history page by page, each transaction once. The order is not documented, so
 * only the last page proves that the history is complete.
 */
export async function* wholeHistory(
  api: Api,
  query: TransactionsQuery,
  { err }: Pick<Context, 'err'>,
): AsyncGenerator<readonly Transaction[]> {
  const limit = query.limit ?? PAGE;
  /** The IDs of the last pages. */
  const recent: ReadonlySet<string>[] = [];
  let repeated = 0;
  let total = 0;
  let given = 0;
  const read = (page: number) => api.billing.transactions({ ...query, page, limit });
  for await (const { number, page, isLast } of pagesOf(read, { ahead: true })) {
    const { data, meta } = page;
    if (meta.total < total) {
      err.warn(
        'incomplete',
        'The history became shorter during the read, so transactions may be missing. Run the command again.',
      );
    }
    total = meta.total;
    const fresh = data.filter(({ id }) => !recent.some((ids) => ids.has(id)));
    recent.push(new Set(data.map(({ id }) => id)));
    if (recent.length > 2 && recent.length * data.length > REMEMBERED) recent.shift();
    repeated = fresh.length > 0 ? 0 : repeated + 1;
    given += fresh.length;
    yield fresh;
    if (repeated === STUCK) {
      throw new CliError(
        'notUnderstood',
        `The service repeats the same transactions on every page (page ${number}), so the full history can't be read.`,
        { hint: 'read single pages: --page N --limit N' },
      );
    }
    if (isLast && given < total) {
      err.warn(
        'incomplete',
        `The service reports ${total} transactions but returned ${given}. The totals are incomplete.`,
      );
    }
  }
}

export interface RecentHistory {
  /** Each transaction once; may include transactions from before the requested time. */
  readonly entries: readonly Transaction[];
  /**
   * Start of the complete part of the history, in milliseconds since 1970. -Infinity means the
   * whole history, undefined means unknown.
   */
  readonly from: number | undefined;
}

/** Reads at most this many pages of a history; a longer history stays incomplete. */
const MOST_PAGES = 6;

/**
 * Reads transactions since a moment, as far back as a few requests reach. The order is not
 * documented: if the history is not newest first, reads it only if it is short enough to read
 * completely.
 */
export async function readRecentHistory(
  api: Api,
  since: number,
  options: CallOptions = {},
): Promise<RecentHistory> {
  const found = new Map<string, Transaction>();
  let oldest = Number.POSITIVE_INFINITY;
  let isNewestFirst = true;
  let from: number | undefined = Number.NEGATIVE_INFINITY;
  const read = (page: number) => api.billing.transactions({ page, limit: PAGE }, options);
  for await (const { number, page, isLast } of pagesOf(read)) {
    for (const transaction of page.data) {
      found.set(transaction.id, transaction);
      const at = instant(transaction.created_at);
      isNewestFirst &&= at !== undefined && at <= oldest;
      oldest = at ?? oldest;
    }
    if (isLast) break;
    const isEnough = isNewestFirst ? oldest < since : page.meta.total_pages > MOST_PAGES;
    if (isEnough || number === MOST_PAGES) {
      // The next page may have more transactions with the oldest time.
      from = isNewestFirst ? Math.max(oldest + 1, since) : undefined;
      break;
    }
  }
  return { entries: [...found.values()], from };
}
