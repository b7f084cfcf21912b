import { toJSONSchema } from 'zod/mini';
import { createInstanceFields } from './instance-body.ts';

/** The JSON Schema (2020-12) of {@link createInstanceFields}. */
export function createFieldsJsonSchema(): object {
  return toJSONSchema(createInstanceFields());
}
