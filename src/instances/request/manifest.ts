import { type CreateInstanceFields, checkCreateFields } from '../../api/index.ts';
import { readInput } from '../../cli/input.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { environmentKey } from '../../rules/container.ts';

/**
 * Reads `--file`: YAML, which JSON is a part of, or stdin for `-`.
 * Throws a usage error that names the file, the line, the path of the field and the broken rule.
 */
export async function readManifest(
  path: string,
  anyEnvKey: boolean,
  context: Context,
): Promise<CreateInstanceFields> {
  const file = await openYaml(path, await readInput('--file', path, context));
  const checked = checkCreateFields(file.content);
  if (!checked.ok) {
    throw faultIn(file, checked.where, checked.what);
  }
  if (!anyEnvKey) {
    checkEnvironmentKeys(file, checked.value);
  }
  return checked.value;
}

function checkEnvironmentKeys(file: YamlFile, manifest: CreateInstanceFields): void {
  for (const [at, { key }] of (manifest.docker_config?.env ?? []).entries()) {
    const verdict = environmentKey(key);
    if (!verdict.ok) {
      const where = ['docker_config', 'env', at, 'key'];
      throw faultIn(
        file,
        where,
        `breaks the rule: ${verdict.rule} (--any-env-key sends it all the same)`,
      );
    }
  }
}

function faultIn(file: YamlFile, where: readonly PropertyKey[], what: string) {
  const field = where.length === 0 ? 'the file' : where.map(String).join('.');
  return usageError(`--file "${file.path}", line ${file.lineOf(where)}: ${field} ${what}`);
}

interface YamlFile {
  readonly path: string;
  readonly content: unknown;
  /** The line, from 1, at which the value of a path stands, or the nearest thing around it. */
  lineOf(where: readonly PropertyKey[]): number;
}

/** Reads YAML, which JSON is a part of. Throws a usage error that names the file and the line. */
async function openYaml(path: string, text: string): Promise<YamlFile> {
  const { isMap, isScalar, LineCounter, parseDocument } = (await import('yaml')).default;
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line } = lines.linePos(error.pos[0]);
    if (error.code === 'DUPLICATE_KEY') {
      throw usageError(`--file "${path}", line ${line}: a field stands there twice`);
    }
    throw usageError(`--file "${path}", line ${line}: not YAML or JSON: ${error.message}`);
  }

  function offsetOf(where: readonly PropertyKey[]): number {
    // What is missing has no place of its own: then the nearest thing around it has one.
    for (let length = where.length; length > 0; length -= 1) {
      const parent =
        length === 1 ? document.contents : document.getIn(where.slice(0, length - 1), true);
      const key = where[length - 1];
      const pair = isMap(parent)
        ? parent.items.find((item) => isScalar(item.key) && item.key.value === key)
        : undefined;
      const node = isScalar(pair?.key) ? pair.key : document.getIn(where.slice(0, length), true);
      const start = rangeStart(node);
      if (start !== undefined) return start;
    }
    return 0;
  }

  return {
    path,
    content: contentOf(path, () => document.toJS({ maxAliasCount: 100 })),
    lineOf: (where) => lines.linePos(offsetOf(where)).line,
  };
}

/** Aliases that point nowhere, or that multiply without end, are found when they are followed. */
function contentOf(path: string, read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw usageError(`--file "${path}": its aliases can't be followed: ${reason}`);
  }
}

function rangeStart(node: unknown): number | undefined {
  const range: unknown =
    typeof node === 'object' && node !== null ? Reflect.get(node, 'range') : undefined;
  const start: unknown = Array.isArray(range) ? range[0] : undefined;
  return typeof start === 'number' ? start : undefined;
}
