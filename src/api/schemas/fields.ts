import { lazy } from '../../lazy.ts';
import { resourceId } from '../../rules/names.ts';
import type { Rule } from '../../rules/rule.ts';
import * as z from '../../zod.ts';

/** Builds a schema at its first use, since a command uses only a few of them. */
export type Schema<T> = () => z.ZodMiniType<T>;
export type Infer<S extends Schema<unknown>> = z.infer<ReturnType<S>>;

/**
 * Fields of responses. The service may omit any of them or send null, and no command may fail for
 * that. Enums are plain strings, since new values may appear.
 */
export const fields = lazy(() => ({
  text: z.nullish(z.string()),
  number: z.nullish(z.number()),
  flag: z.nullish(z.boolean()),
  /** An object or list whose shape the document omits or calls "json". */
  open: z.optional(z.unknown()),
  /** Resource ID: the only field that commands require. */
  id: z.string().check(z.refine((value) => resourceId(value).ok, 'no id')),
}));

/** A required text in a request body, with a rule. */
export function ruled(rule: Rule<unknown>): z.ZodMiniString {
  return z.string().check(({ value: input, issues }) => {
    const verdict = rule(input);
    if (!verdict.ok) issues.push({ code: 'custom', message: verdict.rule, input });
  });
}

/** A required, non-empty text in a request body. */
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

/** A complete pagination object; gpucloud computes omitted fields. */
export interface Meta {
  total: number;
  /** Whether the service returned `total`. Otherwise it counts only the rows so far. */
  isCounted: boolean;
  page: number;
  /** May be less than requested: the API document sets no limit. */
  limit: number;
  /** May be 0 even if there are rows. */
  total_pages: number;
}

/** One page of a list (API document: Conventions, pagination object). */
export interface Page<T> {
  data: T[];
  meta: Meta;
}
