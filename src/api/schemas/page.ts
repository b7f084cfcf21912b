import * as z from 'zod/mini';
import { lazy } from '../../lazy.ts';
import { fields } from './fields.ts';

/** A page number or page size in a query. */
export const count = lazy(() => z.optional(z.number().check(z.int(), z.gte(1))));

/** API document: Conventions, pagination object. */
export const meta = lazy(() => {
  const { number } = fields();
  return z.nullish(
    z.looseObject({ total: number, page: number, limit: number, total_pages: number }),
  );
});

/** A complete pagination object; what the service omits is computed. */
export interface Meta {
  total: number;
  page: number;
  /** May be smaller than requested: no limit is documented. */
  limit: number;
  /** May be 0. */
  total_pages: number;
}

/** One page of a list (API document: Conventions, pagination object). */
export interface Page<T> {
  data: T[];
  meta: Meta;
}
