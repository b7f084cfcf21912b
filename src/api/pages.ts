import { CliError } from '../errors.ts';
import { textField } from './open-fields.ts';

/** One page of a list (API document: Conventions, pagination object). */
interface ListPage<R> {
  readonly data: readonly R[];
  readonly meta: {
    readonly limit: number;
    readonly total_pages: number;
    readonly total: number;
    /** False if `total` is only what gpucloud has seen. */
    readonly isCounted?: boolean;
  };
}

interface NumberedPage<P, R> {
  /** The page number, from 1. */
  readonly number: number;
  readonly page: P;
  /** The rows of this page that were not on an earlier page. */
  readonly fresh: readonly R[];
  readonly isLast: boolean;
}

interface Walk<R> {
  /** Row kind for messages, such as `transactions`. */
  readonly what: string;
  /** Loads the next page while the caller uses the current one. */
  readonly ahead?: boolean;
  /** Returns what two equal rows share. */
  idOf?(row: R): string | undefined;
}

/**
 * Number of rows to remember, besides a page: new rows push older rows onto the next page. More
 * would grow the heap on a long list.
 */
const REMEMBERED = 1000;

/** Stops after this many pages in a row without a new row: the service ignores `page`. */
const STUCK = 5;

/**
 * Reads a list page by page to its end. Never loads two pages at once: a row that moves between
 * them could be missing from both.
 *
 * After the last page, throws CliError('notUnderstood') if the service counted more rows than it
 * returned, or if the list became shorter. A caller that leaves the loop earlier needs no whole
 * list.
 */
export async function* pagesOf<R, P extends ListPage<R>>(
  read: (page: number) => Promise<P & ListPage<R>>,
  { what, ahead = false, idOf = (row) => textField(row, 'id') }: Walk<R>,
): AsyncGenerator<NumberedPage<P, R>> {
  let next: Promise<P> | undefined;
  let seen = new Set<string>();
  let older = new Set<string>();
  let repeated = 0;
  let given = 0;
  let expected: number | undefined;
  let last = 0;
  let isShorter = false;
  for (let number = 1; ; number += 1) {
    const page = await (next ?? read(number));
    next = undefined;
    const { data, meta } = page;
    if (seen.size >= REMEMBERED) [seen, older] = [new Set(), seen];
    const fresh = data.filter((row) => {
      const id = idOf(row);
      if (id === undefined) return true;
      if (seen.has(id) || older.has(id)) return false;
      seen.add(id);
      return true;
    });
    given += fresh.length;
    repeated = fresh.length > 0 || data.length === 0 ? 0 : repeated + 1;
    if (meta.isCounted !== false) {
      expected ??= meta.total;
      isShorter ||= meta.total < last;
      last = meta.total;
    }
    const isLast = isLastPage(number, page, fresh.length);
    if (ahead && !isLast) {
      next = read(number + 1);
      // Avoids an unhandled rejection if the caller stops before the await above.
      next.catch(() => undefined);
    }
    yield { number, page, fresh, isLast };
    if (repeated === STUCK) throw stuck(what, number);
    if (!isLast) continue;
    if (isShorter) throw shorter(what);
    if (expected !== undefined && given < expected) throw missing(what, expected, given);
    return;
  }
}

/**
 * Ignores a `total_pages` of 0 if there are rows: the last page is the one that is not full.
 * Without a total, a page may be short because the service returns fewer rows than requested, so
 * only an empty page ends the list. A service without pages returns too many rows, or the same.
 */
function isLastPage(number: number, { data, meta }: ListPage<unknown>, fresh: number): boolean {
  if (data.length === 0) return true;
  if (meta.isCounted === false) {
    return data.length > meta.limit || (fresh === 0 && data.length < meta.limit);
  }
  return meta.total_pages > 0 ? number >= meta.total_pages : data.length < meta.limit;
}

function missing(what: string, expected: number, given: number): CliError {
  return incomplete(
    `The service reports ${expected} ${what} but returned ${given}, so the list is incomplete.`,
  );
}

function shorter(what: string): CliError {
  return incomplete(
    `The list of ${what} became shorter during the read, so ${what} may be missing. Run the command again.`,
  );
}

function stuck(what: string, number: number): CliError {
  return incomplete(
    `The service repeats the same ${what} on every page (page ${number}), so the list can't be read.`,
  );
}

function incomplete(message: string): CliError {
  return new CliError('notUnderstood', message);
}
