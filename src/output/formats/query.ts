import type { JSONValue } from '@jmespath-community/jmespath';
import { usageError } from '../../errors.ts';
import type { Format } from '../output.ts';
import { jsonLine, jsonText } from './json.ts';
import { tsvLine } from './separated.ts';
import { loadYaml } from './yaml.ts';

export type Query = (value: unknown) => unknown;

/**
 * Reads the expression of `--query`.
 *
 * @throws CliError('usage') that names the expression and what is wrong with it.
 */
export async function compileQuery(expression: string): Promise<Query> {
  const { compile, TreeInterpreter } = await import('@jmespath-community/jmespath');
  try {
    const compiled = compile(expression);
    return (value) => {
      try {
        return TreeInterpreter.search(compiled, value as JSONValue);
      } catch (error) {
        throw wrong(expression, error);
      }
    };
  } catch (error) {
    throw wrong(expression, error);
  }
}

function wrong(expression: string, error: unknown) {
  const reason = error instanceof Error ? error.message : String(error);
  return expression.includes('`')
    ? usageError(
        `--query "${expression}": ${reason}`,
        "between backticks stands JSON; a text stands in single quotes: name=='box'",
      )
    : usageError(`--query "${expression}": ${reason}`);
}

/**
 * A finding as text: one document in JSON and YAML, a line for each element in JSON lines and tsv.
 * In tsv a text has no quotes, so that a shell can use it as it is.
 */
export async function findingText(finding: unknown, format: Format): Promise<string> {
  const items = Array.isArray(finding) ? finding : [finding];
  switch (format) {
    case 'yaml':
      return (await loadYaml())(finding);
    case 'jsonl':
      return items.map(jsonLine).join('');
    case 'tsv':
      return items.map((item) => tsvLine(Array.isArray(item) ? item : [item])).join('');
    default:
      return jsonText(finding);
  }
}
