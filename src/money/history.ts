import type { Api, Transaction, TransactionsQuery } from '../api/index.ts';
import { pagesOf } from '../api/pages.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';

/** Requested page size. The service may return less; its maximum is not documented. */
const PAGE = 100;

/**
 * New transactions push older ones onto the next page during a walk. So the walk remembers the IDs
 * of the last two pages, and at least this many. More would grow the heap on a long history.
 */
const REMEMBERED = 1000;

/** Pages without anything new after which the service counts as not paging. */
const STUCK = 5;

/**
 * Yields the whole history page by page, each transaction once. The order is not documented, so only
 * the last page proves that nothing is left.
 */
export async function* wholeHistory(
  api: Api,
  query: TransactionsQuery,
  { err }: Pick<Context, 'err'>,
): AsyncGenerator<readonly Transaction[]> {
  const limit = query.limit ?? PAGE;
  let seen: SeenSet | undefined;
  let repeated = 0;
  let total = 0;
  let given = 0;
  const read = (page: number) => api.billing.transactions({ ...query, page, limit });
  for await (const { number, page, isLast } of pagesOf(read, { ahead: true })) {
    const { data, meta } = page;
    seen ??= createSeenSet(Math.max(REMEMBERED, 2 * limit, 2 * data.length));
    const { add } = seen;
    if (meta.total < total) {
      err.warn(
        'incomplete',
        'The history became shorter while it was read, so transactions may be missing. Run the command again.',
      );
    }
    total = meta.total;
    const fresh = data.filter(({ id }) => add(id));
    repeated = fresh.length > 0 ? 0 : repeated + 1;
    given += fresh.length;
    yield fresh;
    if (repeated === STUCK) {
      throw new CliError(
        'notUnderstood',
        `The service repeats the same transactions on every page (page ${number}), so the history can't be read to its end.`,
        { hint: 'read single pages: --page N --limit N' },
      );
    }
    if (isLast && given < total) {
      err.warn(
        'incomplete',
        `The service reports ${total} transactions but returned ${given}. The totals here are incomplete.`,
      );
    }
  }
}

/** Remembers the last texts: at least `least` of them, at most twice as many. */
interface SeenSet {
  /** Adds a text; returns whether it was new. */
  add(text: string): boolean;
}

/** Two generations: removing the oldest one by one from a large set takes quadratic time. */
export function createSeenSet(least: number): SeenSet {
  let young = new Set<string>();
  let old = new Set<string>();
  return {
    add(text) {
      if (young.has(text) || old.has(text)) return false;
      young.add(text);
      if (young.size >= least) {
        old = young;
        young = new Set();
      }
      return true;
    },
  };
}
