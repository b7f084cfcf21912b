import * as z from 'zod/mini';
import { lazy } from '../../lazy.ts';
import { resourceId } from '../../rules/names.ts';
import type { Rule } from '../../rules/rule.ts';

/** A schema is built when it is first used: a run reads few of them, and some read none. */
export type Schema<T> = () => z.ZodMiniType<T>;
export type Infer<S extends Schema<unknown>> = z.infer<ReturnType<S>>;

/**
 * Fields of responses. The service may leave any of them out or send null, whatever the document
 * says, and no command may fail for it. Enum values are plain strings, since new ones may come.
 */
export const fields = lazy(() => ({
  text: z.nullish(z.string()),
  number: z.nullish(z.number()),
  flag: z.nullish(z.boolean()),
  /** An object or list whose shape the document does not give, or gives as "json". */
  open: z.optional(z.unknown()),
  /** The id of the thing itself: the one field that commands can't do without. */
  id: z.string().check(z.refine((value) => resourceId(value).ok, 'no id')),
}));

/** A required text of a body, with a rule of its own. */
export function ruled(rule: Rule<unknown>): z.ZodMiniString {
  const error = ({ input }: { input?: unknown }) => {
    const verdict = rule(String(input));
    return verdict.ok ? undefined : verdict.rule;
  };
  return z.string().check(z.refine((value) => rule(value).ok, { error }));
}

/** A required text of a body without one. */
export function filled(): z.ZodMiniString {
  return z.string().check(z.refine((value) => value.trim() !== '', 'it is not empty'));
}
