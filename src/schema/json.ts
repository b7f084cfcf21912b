import { toJSONSchema } from 'zod/mini';
import type { Schema } from './schema.ts';
import { zodOf } from './zod.ts';

/** The JSON Schema (2020-12) of a schema; a rule that is a function is not in it. */
export function jsonSchemaOf(schema: Schema<unknown>): object {
  return toJSONSchema(zodOf(schema));
}
