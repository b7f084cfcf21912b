import { toJSONSchema } from 'zod/mini';
import { RESULTS } from './index.ts';

export { toJSONSchema };

/** Returns the JSON Schema (2020-12) of a command's result; undefined for text. */
export function jsonSchemaOf(words: readonly string[]): Record<string, unknown> | undefined {
  const command = words.join(' ');
  const result = Object.hasOwn(RESULTS, command) ? RESULTS[command] : undefined;
  if (result === undefined) return undefined;
  const { $schema: _dialect, ...schema } = toJSONSchema(result.schema(), { io: 'input' });
  return schema;
}
