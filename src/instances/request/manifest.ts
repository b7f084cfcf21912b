import { readInput } from '../../cli/input.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { loadYamlLibrary } from '../../output/formats/yaml.ts';
import { faultsInManifest, type ManifestFields } from './manifest-schema.ts';

/** The contents of `--file`. */
export interface Manifest {
  readonly fields: ManifestFields;
  /** Names a field in messages: `box.yaml, line 3: docker_config.ports.1`. */
  at(field: readonly PropertyKey[]): string;
}

/**
 * Reads `--file`: YAML (JSON is a subset), or stdin for `-`. Throws a usage error that names the
 * file and, for each fault, the line, the field and the broken rule.
 */
export async function readManifest(path: string, context: Context): Promise<Manifest> {
  const text = await readInput('--file', path, context);
  const { isMap, isNode, isScalar, LineCounter, parseDocument, visit } = await loadYamlLibrary();
  const file = path === '-' ? 'stdin' : path;
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const refused = (faults: readonly { offset: number; what: string }[]) => {
    const inOrder = [...faults].sort((a, b) => a.offset - b.offset);
    const words = inOrder.map(({ offset, what }) => `line ${lines.linePos(offset).line}: ${what}`);
    return usageError(`${file}, ${words.join('; ')}`);
  };
  const syntax = document.errors.map((error) => ({
    offset: error.pos[0],
    what: syntaxFault(error),
  }));
  // YAML would read `!secret x` as x.
  visit(document, {
    Node(_key, { tag, range }) {
      if (tag) syntax.push({ offset: range?.[0] ?? 0, what: `the tag ${tag} is not supported` });
    },
  });
  if (syntax.length > 0) throw refused(syntax);

  function offsetOf(where: readonly PropertyKey[]): number {
    // A missing field has no line; use its nearest parent's.
    for (let field = where; field.length > 0; field = field.slice(0, -1)) {
      const parent = document.getIn(field.slice(0, -1), true);
      const pair = isMap(parent)
        ? parent.items.find((item) => isScalar(item.key) && item.key.value === field.at(-1))
        : undefined;
      const node = isScalar(pair?.key) ? pair.key : document.getIn(field, true);
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
    throw usageError(`${file}: can't resolve its aliases: ${reason}`);
  }
  const faults = faultsInManifest(content).map(({ where, what }) => ({
    offset: offsetOf(where),
    what: `${where.length === 0 ? 'the file' : where.map(String).join('.')} ${what}`,
  }));
  if (faults.length > 0) throw refused(faults);
  return {
    fields: content as ManifestFields,
    at: (field) =>
      `${file}, line ${lines.linePos(offsetOf(field)).line}: ${field.map(String).join('.')}`,
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
