import type { Api, CallOptions, Transaction, TransactionsQuery } from '../api/index.ts';
import { pagesOf } from '../api/pages.ts';
import { instant } from '../output/time.ts';

/** Page size to request. The service may return less; its maximum is not documented. */
const PAGE = 100;

/**
 * Yields the whole history page by page, each transaction once. The order is not documented, so
 * only the last page proves that the history is complete. Throws if it is not.
 */
export async function* wholeHistory(
  api: Api,
  query: TransactionsQuery,
): AsyncGenerator<readonly Transaction[]> {
  const limit = query.limit ?? PAGE;
  const read = (page: number) => api.billing.transactions({ ...query, page, limit });
  for await (const { fresh } of pagesOf(read, { what: 'transactions', ahead: true })) yield fresh;
}

/** The part of the service that has the transactions. */
export interface Ledger {
  readonly billing: Pick<Api['billing'], 'transactions'>;
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
  api: Ledger,
  since: number,
  options: CallOptions = {},
): Promise<RecentHistory> {
  const found = new Map<string, Transaction>();
  let oldest = Number.POSITIVE_INFINITY;
  let isNewestFirst = true;
  let from: number | undefined = Number.NEGATIVE_INFINITY;
  const read = (page: number) => api.billing.transactions({ page, limit: PAGE }, options);
  for await (const { number, page, isLast } of pagesOf(read, { what: 'transactions' })) {
    for (const transaction of page.data) {
      found.set(transaction.id, transaction);
      const at = instant(transaction.created_at);
      isNewestFirst &&= at !== undefined && at <= oldest;
      oldest = at ?? oldest;
    }
    // Leaves the end to the walk, which checks that nothing is missing.
    if (isLast) continue;
    const isEnough = isNewestFirst ? oldest < since : page.meta.total_pages > MOST_PAGES;
    if (isEnough || number === MOST_PAGES) {
      // The next page may have more transactions with the oldest time.
      from = isNewestFirst ? Math.max(oldest + 1, since) : undefined;
      break;
    }
  }
  return { entries: [...found.values()], from };
}
