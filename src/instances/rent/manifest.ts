import { dirname } from 'node:path';
import { faultsIn, NOT_DOCUMENTED, type Odd } from '../../api/schemas/check.ts';
import { readInput } from '../../command-line/input.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { loadYamlLibrary } from '../../output/formats/yaml.ts';
import { nearest } from '../../rules/nearest.ts';
import { manifestJsonSchema } from './manifest-json.ts';
import { type ManifestFields, manifestSchema } from './manifest-schema.ts';

/** The contents of `--file`. */
export interface Manifest {
  /** The file's name, for messages. */
  readonly file: string;
  /** The folder to which relative paths in the file refer. */
  readonly folder: string;
  readonly fields: ManifestFields;
  /** Returns a field's place for messages: `box.yaml, line 3: docker_config.ports.1`. */
  at(field: readonly PropertyKey[]): string;
}

/**
 * Reads `--file` as YAML (JSON is a subset); `-` means stdin. Throws a usage error with the file
 * and, for each fault, the line, the field and the rule.
 */
export async function readManifest(path: string, context: Context): Promise<Manifest> {
  const text = await readInput('--file', path, context);
  const { isMap, isNode, isScalar, LineCounter, parseDocument, visit } = await loadYamlLibrary();
  const file = path === '-' ? 'stdin' : path;
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // YAML would print its own warnings.
    logLevel: 'error',
  });
  const refused = (faults: readonly { offset: number; what: string }[]) => {
    const inOrder = [...faults].sort((a, b) => a.offset - b.offset);
    const words = inOrder.map(({ offset, what }) => `line ${lines.linePos(offset).line}: ${what}`);
    return usageError(`${file}, ${words.join('; ')}`);
  };
  const syntax = document.errors.map((error) => ({
    offset: error.pos[0],
    what: syntaxFault(error),
  }));
  // Rejects tags: YAML would read `!secret x` as x. A password without quotes may look like a tag or
  // an alias, so no message contains it.
  const anchors = new Set<string>();
  const refuse = (range: readonly number[] | null | undefined, what: string) =>
    syntax.push({ offset: Number(range?.[0]), what });
  visit(document, {
    Node(_key, { anchor, tag, range }) {
      if (anchor !== undefined) anchors.add(anchor);
      if (tag) refuse(range, 'tags are not supported: quote a text that begins with !');
    },
    Alias(_key, { source, range }) {
      if (!anchors.has(source)) {
        refuse(range, 'the alias has no anchor: quote a text that begins with *');
      }
    },
  });
  if (syntax.length > 0) throw refused(syntax);
  // Keeps numbers as written: `VERSION: 1.10` sets the text 1.10.
  const variables = document.get('env');
  for (const { value } of isMap(variables) ? variables.items : []) {
    if (isScalar(value) && value.value !== null) value.value = value.source;
  }

  function offsetOf(where: readonly PropertyKey[]): number {
    // Uses the nearest parent's line, since a missing field has none.
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
    // YAML also throws for aliases without an anchor, and for endless expansion.
    throw usageError(`${file}: can't resolve its aliases: ${(error as Error).message}`);
  }
  const faults = faultsInManifest(content).map(({ where, what }) => ({
    offset: offsetOf(where),
    what: `${where.length === 0 ? 'the file' : where.map(shownField).join('.')} ${what}`,
  }));
  if (faults.length > 0) throw refused(faults);
  return {
    file,
    folder: path === '-' ? '.' : dirname(path),
    fields: content as ManifestFields,
    at: (field) =>
      `${file}, line ${lines.linePos(offsetOf(field)).line}: ${field.map(String).join('.')}`,
  };
}

/** Hides what may be the value of a variable: `env: {TOKEN=secret}` is a field without a value. */
function shownField(name: PropertyKey): string {
  return String(name).replace(/=.*/s, '=…');
}

function syntaxFault({ code, message }: { code: string; message: string }): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'duplicate field';
    case 'MULTIPLE_DOCS':
      return 'a second document starts here; a file describes one job or instance';
    default:
      return `not YAML or JSON: ${message}`;
  }
}

/** The rules of fields that people write in the form of another tool. */
const FORMS: Readonly<Record<string, string>> = {
  'env is not of type record': 'must be lines KEY: VALUE, not a list of KEY=VALUE',
  'command has an unexpected shape': 'must be one line, or a list of words: quote numbers and true',
};

/** Returns the faults of a file, each with the rule of its field. */
export function faultsInManifest(value: unknown): Odd[] {
  return faultsIn(manifestSchema, value).map(({ where, what }) => {
    if (what !== NOT_DOCUMENTED) {
      return { where, what: FORMS[`${where.join('.')} ${what}`] ?? what };
    }
    const name = String(where.at(-1));
    const names = fieldsIn(where.slice(0, -1));
    // Suggests offer_id for `offer`, and otherwise the most similar name.
    const meant = names.find((one) => one.split('_').includes(name)) ?? nearest(name, names);
    return { where, what: `is unknown${meant === undefined ? '' : ` (did you mean ${meant}?)`}` };
  });
}

interface Described {
  readonly properties?: Readonly<Record<string, Described>>;
  readonly items?: Described;
}

/** Returns the names of the fields at a place in the file. */
function fieldsIn(where: readonly PropertyKey[]): string[] {
  let here: Described | undefined = manifestJsonSchema();
  for (const step of where) {
    here = typeof step === 'number' ? here?.items : here?.properties?.[String(step)];
  }
  return Object.keys({ ...here?.properties });
}
