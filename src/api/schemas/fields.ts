import { resourceId } from '../../rules/ids.ts';
import type { Rule } from '../../rules/rule.ts';
import {
  number as aNumber,
  boolean,
  nullish,
  optional,
  refine,
  type Schema,
  string,
  unknown,
} from '../../schema/schema.ts';

/**
 * Fields of answers. The service may leave any of them out or send null, whatever the document
 * says, and no command may fail for it; a value of another JSON type is an answer that can't be
 * trusted. Enum values are plain strings, since new ones may come.
 */
export const text = nullish(string());
export const number = nullish(aNumber());
export const flag = nullish(boolean());
/** An object or list whose shape the document does not give, or gives as "json". */
export const open = optional(unknown());

/** The id of the thing itself: the one field that commands can't do without. */
export const id = string(refine((value) => resourceId(value).ok, 'no id'));

/** A required text of a body, with a rule of its own or without one. */
export function ruled(rule: Rule<unknown>): Schema<string, false> {
  const words = (value: string) => {
    const verdict = rule(value);
    return verdict.ok ? '' : verdict.rule;
  };
  return string(refine((value) => rule(value).ok, words));
}

export const filled = string(refine((value) => value.trim() !== '', 'it is not empty'));
