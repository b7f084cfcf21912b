import * as z from 'zod/mini';
import { lazy } from '../../lazy.ts';
import { fields } from './fields.ts';

/** A page number or size of a query. */
export const count = lazy(() => z.optional(z.number().check(z.int(), z.gte(1))));

/** API document: Conventions, pagination object. */
export const meta = lazy(() => {
  const { number } = fields();
  return z.nullish(
    z.looseObject({ total: number, page: number, limit: number, total_pages: number }),
  );
});

/** The pagination object of a list, complete: what the service left out is worked out. */
export interface Meta {
  total: number;
  page: number;
  /** May be smaller than asked for: a cap is not documented. */
  limit: number;
  /** May be 0. */
  total_pages: number;
}
