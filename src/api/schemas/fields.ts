import { lazy } from '../../lazy.ts';
import { resourceId } from '../../rules/names.ts';
import type { Rule } from '../../rules/rule.ts';
import * as z from '../../zod.ts';

/** Builds a schema at its first use: a run uses few of them, or none. */
export type Schema<T> = () => z.ZodMiniType<T>;
export type Infer<S extends Schema<unknown>> = z.infer<ReturnType<S>>;

/**
 * Response fields. The service may omit any of them or send null, whatever the document says, and no
 * command may fail for that. Enum values are plain strings, since new ones may appear.
 */
export const fields = lazy(() => ({
  text: z.nullish(z.string()),
  number: z.nullish(z.number()),
  flag: z.nullish(z.boolean()),
  /** An object or list whose shape the document omits or calls "json". */
  open: z.optional(z.unknown()),
  /** The resource's own ID: the one field that commands need. */
  id: z.string().check(z.refine((value) => resourceId(value).ok, 'no id')),
}));

/** A required body text with a rule of its own. */
export function ruled(rule: Rule<unknown>): z.ZodMiniString {
  const error = ({ input }: { input?: unknown }) => {
    const verdict = rule(String(input));
    return verdict.ok ? undefined : verdict.rule;
  };
  return z.string().check(z.refine((value) => rule(value).ok, { error }));
}

/** A required body text without one. */
export function filled(): z.ZodMiniString {
  return z.string().check(z.refine((value) => value.trim() !== '', 'must not be empty'));
}

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
