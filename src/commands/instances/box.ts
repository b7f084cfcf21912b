import { type CreateInstanceFields, checkCreateFields } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { readInput } from '../kit/input.ts';

/**
 * Reads `--file`: YAML, which JSON is a part of, or stdin for `-`.
 * Throws a usage error that names the file and the broken rule, with its path in the file.
 */
export async function readBox(path: string, context: Context): Promise<CreateInstanceFields> {
  const text = await readInput('--file', path, context);
  const { parse } = await import('yaml');
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    throw usageError(`--file "${path}": not YAML or JSON: ${reason}`);
  }
  const verdict = checkCreateFields(content);
  if (!verdict.ok) {
    throw usageError(`--file "${path}": ${verdict.rule}`);
  }
  return verdict.value;
}
