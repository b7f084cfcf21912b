import { type CreateInstanceBody, checkCreateFields } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { readText } from './container.ts';

/** A machine described in a file: the fields of POST /instances, each of which a flag may give. */
export type BoxFile = Partial<Omit<CreateInstanceBody, 'docker_config'>> & {
  docker_config?: Partial<NonNullable<CreateInstanceBody['docker_config']>>;
};

/** A description of a machine is short; more than this is a mistake. */
const LONGEST = 1024 * 1024;

/**
 * Reads `--file`: YAML, which JSON is a part of, or stdin for `-`.
 * Throws a usage error that names the file and the broken rule, with its path in the file.
 */
export async function readBox(path: string, context: Context): Promise<BoxFile> {
  const text = path === '-' ? await readStdin(context) : await readText('--file', path);
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

async function readStdin(context: Context): Promise<string> {
  let text = '';
  for await (const chunk of context.stdin) {
    text += String(chunk);
    if (text.length > LONGEST) {
      throw usageError('--file "-": stdin is longer than 1 MiB');
    }
  }
  return text;
}
