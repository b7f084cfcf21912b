import type { Api, CallOptions, Transaction } from '../api/index.ts';
import { pagesOf } from '../api/pages.ts';
import { instant } from '../output/time.ts';

export interface RecentHistory {
  /** Each transaction once; may include older ones. */
  readonly entries: readonly Transaction[];
  /**
   * The history is complete from this moment on, in milliseconds since 1970. -Infinity means the whole
   * history, undefined means unknown.
   */
  readonly from: number | undefined;
}

const PAGE = 100;
/** A limit for sampling the history; longer ones are not read to the end. */
const MOST_PAGES = 6;

/**
 * Reads transactions since a moment, as far as a few requests reach. The order is not documented:
 * unless the history is newest first, only a short one is read, completely.
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
      // The next page may hold more transactions of the oldest moment.
      from = isNewestFirst ? Math.max(oldest + 1, since) : undefined;
      break;
    }
  }
  return { entries: [...found.values()], from };
}
