import type { Api, CallOptions, Transaction } from '../api/index.ts';
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

type Order = 'newest first' | 'oldest first' | 'none';

/**
 * The transactions since a moment, as far as a few requests reach. The order of the history is not
 * documented, so the pages that were read decide: newest first, oldest first (then its end is read),
 * or none, in which case only a short history is read, whole.
 */
export async function readRecentHistory(
  api: Api,
  since: number,
  options: CallOptions = {},
): Promise<RecentHistory> {
  const found = new Map<string, Transaction>();
  async function read(page: number) {
    const { data, meta } = await api.billing.transactions({ page, limit: PAGE }, options);
    for (const transaction of data) found.set(transaction.id, transaction);
    return { times: data.map(momentOf), meta };
  }
  const result = (from: number | undefined) => ({ entries: [...found.values()], from });
  const WHOLE = Number.NEGATIVE_INFINITY;

  const first = await read(1);
  const { limit, total_pages: pages } = first.meta;
  if (pages > 0 ? pages === 1 : first.times.length < limit) return result(WHOLE);
  const order = orderOf(first.times);
  if (order === 'none' && (pages === 0 || pages > MOST_PAGES)) return result(undefined);
  if (order === 'oldest first' && pages === 0) return result(undefined);

  // Everything after this moment has been read; that moment's own may go on on the next page.
  let reached = order === 'newest first' ? first.times.at(-1) : undefined;
  const downwards = order === 'oldest first';
  let page = downwards ? pages : 2;
  for (let asked = 1; asked < MOST_PAGES; asked += 1) {
    if (reached !== undefined && reached < since) return result(since);
    const { times } = await read(page);
    if (times.length > 0 && order !== 'none') {
      const isKept = times.length === 1 || [order, 'none'].includes(orderOf(times));
      if (!isKept || times.includes(undefined)) return result(undefined);
      reached = downwards ? times[0] : times.at(-1);
    }
    page += downwards ? -1 : 1;
    const isOver = downwards ? page < 2 : pages > 0 ? page > pages : times.length < limit;
    if (isOver) return result(WHOLE);
  }
  return result(reached === undefined ? undefined : Math.max(reached + 1, since));
}

/** `none` where the times are in no order, all the same, or can't be read. */
function orderOf(times: readonly (number | undefined)[]): Order {
  const pairs = times.slice(1).map((time, at) => [times[at], time] as const);
  const [start, end] = [times[0], times.at(-1)];
  if (start === undefined || end === undefined || start === end) return 'none';
  const falls = (a?: number, b?: number) => a !== undefined && b !== undefined && a >= b;
  if (pairs.every(([a, b]) => falls(a, b))) return 'newest first';
  return pairs.every(([a, b]) => falls(b, a)) ? 'oldest first' : 'none';
}
