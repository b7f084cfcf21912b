import { unseen } from '../../rules/clean.ts';
import type { Forms } from '../forms.ts';
import { hasUnseen, wholeCharacters } from '../sanitise.ts';
import { type Writer, writeDocument } from './batch.ts';

export async function loadYamlLibrary() {
  return (await import('yaml')).default;
}

/** Loads a writer whose YAML means the same in YAML 1.1 and 1.2. */
export async function loadYaml(): Promise<(value: unknown) => string> {
  const { Document, visit } = await loadYamlLibrary();
  return (value) => {
    // The service repeats no value on purpose, so an alias would only confuse readers.
    const document = new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
    visit(document, {
      Scalar(_key, node) {
        if (typeof node.value === 'string') node.value = wholeCharacters(node.value);
        // Only double quotes can escape characters that must not reach a terminal raw. In YAML 1.1,
        // a bare `=` is not text.
        const { value: text } = node;
        if (typeof text === 'string' && (text === '=' || isHostile(text))) {
          node.type = 'QUOTE_DOUBLE';
        }
      },
    });
    return escapeRaw(document.toString({ lineWidth: 0 }));
  };
}

/**
 * Loads a writer of one document. A list is a sequence: its elements are written as they arrive.
 */
export async function loadYamlWriter(): Promise<<T>(forms: Forms<T>) => Writer<T>> {
  const yaml = await loadYaml();
  return ({ data }) => ({
    item: (value) => yaml(data(value)),
    list: (rows, sink, coming) =>
      writeDocument(
        rows,
        (row) => yaml([data(row)]),
        (isEmpty) => (isEmpty ? '[]\n' : ''),
        sink,
        coming,
      ),
  });
}

/** Ignores line breaks, since YAML has block scalars. */
function isHostile(text: string): boolean {
  return hasUnseen(text.replaceAll('\n', ''));
}

/**
 * Escapes characters unsafe in a terminal with `\u`; `isHostile` has put their texts in double
 * quotes.
 */
function escapeRaw(yaml: string): string {
  return yaml.replace(unseen(), (found) => {
    if (found === '\n') return found;
    const code = Number(found.codePointAt(0)).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}
