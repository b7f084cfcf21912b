import type { Api, Transaction, TransactionsQuery } from '../api/index.ts';
import { pagesOf } from '../api/pages.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';

/** The page size that is asked for; the service may give less (its maximum is not documented). */
const PAGE = 100;

/**
 * Transactions that arrive while reading push older ones onto the next pages. So the ids of the last
 * two pages are remembered, and at least this many. More would grow V8's heap on a long history.
 */
const REMEMBERED = 1000;

/** After so many pages without anything new the service does not page. */
const STUCK = 5;

/**
 * The whole history, page after page, each transaction on one of them. Their order is not
 * documented, so that no page but the last one says that there is nothing more to be found.
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
        'The history became shorter while it was read: some transactions may be missing here. Run the command again.',
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
        `The service gives the same transactions on page after page (page ${number}): the history can't be read to its end.`,
        { hint: 'read single pages with --page and --limit' },
      );
    }
    if (isLast && given < total) {
      err.warn(
        'incomplete',
        `The service counts ${total} transactions and gave ${given}: the rest is missing here, and totals are not those of the whole history.`,
      );
    }
  }
}

/** Remembers at least the last `least` texts, and at most twice as many, however many come. */
interface SeenSet {
  /** Remembers a text; returns whether it was new. */
  add(text: string): boolean;
}

/** Two generations: dropping the oldest of one large set one by one would take quadratic time. */
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
