import type { Api, CallOptions, Transaction } from '../api/index.ts';
import { pagesOf } from '../api/pages.ts';
import { momentOf } from './ledger.ts';

export interface RecentHistory {
  /** Each transaction once; older ones may be among them. */
  readonly entries: readonly Transaction[];
  /**
   * Everything from this moment on was read, in milliseconds since 1970; -Infinity for the whole
   * history, undefined if nothing is certain.
   */
  readonly from: number | undefined;
}

const PAGE = 100;
/** The history is sampled here, not read to its end. */
const MOST_PAGES = 6;

/**
 * The transactions since a moment, as far as a few requests reach. The order of the history is not
 * documented: unless it turns out to be newest first, only a short history is read, whole.
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
      const at = momentOf(transaction);
      isNewestFirst &&= at !== undefined && at <= oldest;
      oldest = at ?? oldest;
    }
    if (isLast) break;
    const isEnough = isNewestFirst ? oldest < since : page.meta.total_pages > MOST_PAGES;
    if (isEnough || number === MOST_PAGES) {
      // More transactions of the oldest moment may be on the next page.
      from = isNewestFirst ? Math.max(oldest + 1, since) : undefined;
      break;
    }
  }
  return { entries: [...found.values()], from };
}
