import { isPlain } from './plain.ts';
import type { Schema } from './schema.ts';
import { type Fault, zodOf } from './zod.ts';

export type { Fault };

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  /** What is wrong, in the order of the schema. */
  | { readonly ok: false; readonly faults: readonly [Fault, ...Fault[]] };

/**
 * Judges a value. One that zod has to look at is given back as zod's copy, in which no object that
 * the schema describes has a field named `__proto__`.
 */
export function parse<T>(schema: Schema<T>, value: unknown): Parsed<T> {
  if (isPlain(schema, value)) return { ok: true, value: value as T };
  const { success, data, error } = zodOf(schema).safeParse(value);
  return success
    ? { ok: true, value: data }
    : { ok: false, faults: error.issues as [Fault, ...Fault[]] };
}
