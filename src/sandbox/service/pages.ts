import { badRequest } from '../refusal.ts';

/** `meta` of a list (API document: Conventions). */
export interface Meta {
  total: number;
  page: number;
  limit: number;
  total_pages: number;
}

export interface Page<T> {
  data: T[];
  meta: Meta;
}

/**
 * The document has no maximum page size. A larger `limit` is reduced to this maximum, as `meta`
 * shows.
 */
const LARGEST_PAGE = 100;

export function pageOf<I, T>(
  items: readonly I[],
  page: number,
  limit: number,
  view: (item: I) => T,
): Page<T> {
  const size = Math.min(limit, LARGEST_PAGE);
  return {
    data: items.slice((page - 1) * size, page * size).map(view),
    meta: {
      total: items.length,
      page,
      limit: size,
      total_pages: Math.ceil(items.length / size),
    },
  };
}

/** Parses `page` or `limit` of a query. */
export function pageNumber(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw badRequest(`${name} must be a whole number from 1`);
  return Number(text);
}
