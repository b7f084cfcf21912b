import * as z from 'zod/mini';
import { resourceId } from '../../rules/ids.ts';
import type { Rule } from '../../rules/rule.ts';

/**
 * Fields of answers. The service may leave any of them out or send null, whatever the document
 * says, and no command may fail for it; a value of another JSON type is an answer that can't be
 * trusted. Enum values are plain strings, since new ones may come.
 */
export const text = z.nullish(z.string());
export const number = z.nullish(z.number());
export const flag = z.nullish(z.boolean());
/** An object or list whose shape the document does not give, or gives as "json". */
export const open = z.optional(z.unknown());

/** The id of the thing itself: the one field that commands can't do without. */
export const id = z.string().check(z.refine((value) => resourceId(value).ok, { error: 'no id' }));

/** A required text of a body, with a rule of its own or without one. */
export function ruled(rule: Rule<unknown>): z.ZodMiniString {
  return z.string().check(
    z.superRefine((value, context) => {
      const verdict = rule(value);
      if (!verdict.ok) {
        context.addIssue({ code: 'custom', message: verdict.rule, input: undefined });
      }
    }),
  );
}

export const filled = z
  .string()
  .check(z.refine((value) => value.trim() !== '', { error: 'it is not empty' }));
