import { toJSONSchema } from 'zod/mini';
import { createInstanceFields } from './instance-body.ts';

/** The JSON Schema (2020-12) of what {@link createInstanceFields} takes. */
export function createFieldsJsonSchema(): object {
  return toJSONSchema(createInstanceFields());
}
