import { type CreateInstanceFields, checkCreateFields } from '../api/index.ts';
import { readInput } from '../cli/input.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { environmentKey } from '../rules/container.ts';
import { openYaml, type YamlFile } from './yaml-file.ts';

/**
 * Reads `--file`: YAML, which JSON is a part of, or stdin for `-`.
 * Throws a usage error that names the file, the line, the path of the field and the broken rule.
 */
export async function readBox(
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

function checkEnvironmentKeys(file: YamlFile, box: CreateInstanceFields): void {
  for (const [at, { key }] of (box.docker_config?.env ?? []).entries()) {
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
