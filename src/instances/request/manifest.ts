import { type CreateInstanceFields, checkCreateFields } from '../../api/index.ts';
import { readInput } from '../../cli/input.ts';
import type { Context } from '../../context.ts';
import { type CliError, usageError } from '../../errors.ts';
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
  if (!checked.ok) throw file.faultAt(checked.where, checked.what);
  if (!anyEnvKey) checkEnvironmentKeys(file, checked.value);
  return checked.value;
}

function checkEnvironmentKeys(file: YamlFile, manifest: CreateInstanceFields): void {
  for (const [at, { key }] of (manifest.docker_config?.env ?? []).entries()) {
    const verdict = environmentKey(key);
    if (!verdict.ok) {
      throw file.faultAt(
        ['docker_config', 'env', at, 'key'],
        `breaks the rule: ${verdict.rule} (--any-env-key sends it all the same)`,
      );
    }
  }
}

interface YamlFile {
  readonly content: unknown;
  /** A usage error that names the line of a path, or of the nearest thing around it. */
  faultAt(where: readonly PropertyKey[], what: string): CliError;
}

/** Reads YAML, which JSON is a part of. Throws a usage error that names the file and the line. */
async function openYaml(path: string, text: string): Promise<YamlFile> {
  const { isMap, isNode, isScalar, LineCounter, parseDocument } = (await import('yaml')).default;
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const fault = (offset: number, what: string) =>
    usageError(`--file "${path}", line ${lines.linePos(offset).line}: ${what}`);
  const [error] = document.errors;
  if (error !== undefined) {
    throw fault(
      error.pos[0],
      error.code === 'DUPLICATE_KEY'
        ? 'a field stands there twice'
        : `not YAML or JSON: ${error.message}`,
    );
  }

  function offsetOf(where: readonly PropertyKey[]): number {
    // What is missing has no place of its own: then the nearest thing around it has one.
    for (let path = where; path.length > 0; path = path.slice(0, -1)) {
      const parent = document.getIn(path.slice(0, -1), true);
      const pair = isMap(parent)
        ? parent.items.find((item) => isScalar(item.key) && item.key.value === path.at(-1))
        : undefined;
      const node = isScalar(pair?.key) ? pair.key : document.getIn(path, true);
      if (isNode(node) && node.range != null) return node.range[0];
    }
    return 0;
  }

  let content: unknown;
  try {
    content = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    // Aliases that point nowhere, or that multiply without end.
    const reason = error instanceof Error ? error.message : String(error);
    throw usageError(`--file "${path}": its aliases can't be followed: ${reason}`);
  }
  return {
    content,
    faultAt(where, what) {
      const field = where.length === 0 ? 'the file' : where.map(String).join('.');
      return fault(offsetOf(where), `${field} ${what}`);
    },
  };
}
