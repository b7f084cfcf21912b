import { type CreateInstanceFields, faultsInCreateFields } from '../../api/index.ts';
import { readInput } from '../../cli/input.ts';
import type { Context } from '../../context.ts';
import { type CliError, usageError } from '../../errors.ts';
import { environmentKey } from '../../rules/container.ts';

/**
 * Reads `--file`: YAML, which JSON is a part of, or stdin for `-`.
 * Throws a usage error that names the file, and of each fault the line, the field and the broken rule.
 */
export async function readManifest(
  path: string,
  anyEnvKey: boolean,
  context: Context,
): Promise<CreateInstanceFields> {
  const file = await openYaml(path, await readInput('--file', path, context));
  const manifest = file.content as CreateInstanceFields;
  const faults = faultsInCreateFields(manifest);
  const isContainerSound = faults.every(
    ({ where: [field = 'docker_config'] }) => field !== 'docker_config',
  );
  if (!anyEnvKey && isContainerSound) faults.push(...environmentFaults(manifest));
  if (faults.length > 0) throw file.faultAt(faults);
  return manifest;
}

function environmentFaults(manifest: CreateInstanceFields): Fault[] {
  return [...(manifest.docker_config?.env ?? []).entries()].flatMap(([at, { key }]) => {
    const verdict = environmentKey(key);
    return verdict.ok
      ? []
      : {
          where: ['docker_config', 'env', at, 'key'],
          what: `breaks the rule: ${verdict.rule} (--any-env-key sends it all the same)`,
        };
  });
}

interface YamlFile {
  readonly content: unknown;
  /** A usage error that names the line of each path, or of the nearest thing around it. */
  faultAt(faults: readonly Fault[]): CliError;
}

type Fault = ReturnType<typeof faultsInCreateFields>[number];

/** Reads YAML, which JSON is a part of. Throws a usage error that names the file and the line. */
async function openYaml(path: string, text: string): Promise<YamlFile> {
  const { isMap, isNode, isScalar, LineCounter, parseDocument } = (await import('yaml')).default;
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const refused = (faults: readonly { offset: number; what: string }[]) => {
    const inOrder = [...faults].sort((a, b) => a.offset - b.offset);
    const words = inOrder.map(({ offset, what }) => `line ${lines.linePos(offset).line}: ${what}`);
    return usageError(`--file "${path}", ${words.join('; ')}`);
  };
  const { errors } = document;
  if (errors.length > 0) {
    throw refused(errors.map((error) => ({ offset: error.pos[0], what: syntaxFault(error) })));
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
    faultAt: (faults) =>
      refused(
        faults.map(({ where, what }) => {
          const field = where.length === 0 ? 'the file' : where.map(String).join('.');
          return { offset: offsetOf(where), what: `${field} ${what}` };
        }),
      ),
  };
}

function syntaxFault({ code, message }: { code: string; message: string }): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'a field stands there twice';
    case 'MULTIPLE_DOCS':
      return 'a second document begins here; a file holds one instance';
    default:
      return `not YAML or JSON: ${message}`;
  }
}
