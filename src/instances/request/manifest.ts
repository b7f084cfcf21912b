import { type CreateInstanceFields, faultsInCreateFields } from '../../api/index.ts';
import { readInput } from '../../cli/input.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { environmentKey } from '../../rules/container.ts';

/**
 * Reads `--file`: YAML (JSON is a subset), or stdin for `-`. Throws a usage error that names the
 * file and, for each fault, the line, the field and the broken rule.
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
          what: `breaks the rule: ${verdict.rule} (to send it anyway: --any-env-key)`,
        };
  });
}

type Fault = ReturnType<typeof faultsInCreateFields>[number];

/** Reads YAML (JSON is a subset). Throws a usage error that names the file and the line. */
async function openYaml(path: string, text: string) {
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
    // A missing field has no line; use its nearest parent's.
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
    // Dangling aliases, or aliases that multiply without end.
    const reason = error instanceof Error ? error.message : String(error);
    throw usageError(`--file "${path}": can't resolve its aliases: ${reason}`);
  }
  return {
    content,
    /** Builds a usage error with the line of each path, or of its nearest parent. */
    faultAt: (faults: readonly Fault[]) =>
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
      return 'duplicate field';
    case 'MULTIPLE_DOCS':
      return 'a second document starts here; a file describes one instance';
    default:
      return `not YAML or JSON: ${message}`;
  }
}
