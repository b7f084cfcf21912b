import { looseObject, nullish } from '../../schema/schema.ts';
import { number } from './fields.ts';

/** API document: Conventions, pagination object. */
export const meta = nullish(
  looseObject({ total: number, page: number, limit: number, total_pages: number }),
);

/** The pagination object of a list, complete: what the service left out is worked out. */
export interface Meta {
  total: number;
  page: number;
  /** May be smaller than asked for: a cap is not documented. */
  limit: number;
  /** May be 0. */
  total_pages: number;
}
