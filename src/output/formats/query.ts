import { runInNewContext } from 'node:vm';
import type { JSONValue } from '@jmespath-community/jmespath';
import { usageError } from '../../errors.ts';
import type { Format, QueryLimits } from '../output.ts';
import { jsonLine, jsonText } from './json.ts';
import { csvLine, tsvLine } from './separated.ts';
import { loadYaml } from './yaml.ts';

export type Query = (value: unknown) => unknown;

/**
 * Compiles the expression of `--query`. A short expression can double its result many times, so an
 * untrusted one needs `limits`.
 *
 * @throws CliError('usage') that names the expression and the mistake.
 */
export async function compileQuery(expression: string, limits?: QueryLimits): Promise<Query> {
  if (expression.trim() === '') throw usageError('--query is empty');
  const { compile, tokenize, TreeInterpreter } = await import('@jmespath-community/jmespath');
  const tried = <T>(work: () => T): T => {
    try {
      return limits === undefined ? work() : within(limits, work);
    } catch (error) {
      throw wrong(expression, error);
    }
  };
  const compiled = tried(() => {
    const tree = parsed(expression, { compile, tokenize });
    for (const { name, children } of callsIn(tree)) {
      const nulls = children.map(() => null);
      const fault = faultOf(() => TreeInterpreter.runtime.callFunction(name, nulls));
      if (/^(Invalid arity|Unknown function)/.test(fault ?? '')) throw new Error(fault);
    }
    return tree;
  });
  return (value) =>
    tried(() => {
      const found = TreeInterpreter.search(compiled, value as JSONValue);
      const { length = 0 } = (limits && JSON.stringify(found)) ?? '';
      if (length > (limits?.characters ?? 0)) throw new Error('the result is too large');
      return found;
    });
}

/** Runs `work`, and stops it when the time is over. */
function within<T>({ milliseconds }: QueryLimits, work: () => T): T {
  try {
    return runInNewContext('work()', { work }, { timeout: milliseconds });
  } catch (error) {
    // The error belongs to the new context, so it is no instance of this context's Error.
    if (Object(error).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new Error(`it takes longer than ${milliseconds / 1000} s`);
  }
}

type Parser = Pick<typeof import('@jmespath-community/jmespath'), 'compile' | 'tokenize'>;

/** Names the first unexpected word, since the parser's error omits it. */
function parsed(expression: string, { compile, tokenize }: Parser) {
  try {
    return compile(expression);
  } catch {
    const starts = tokenize(expression).map(({ start }) => start);
    const at = starts.findIndex((_, index) => {
      const fault = faultOf(() => compile(expression.slice(0, starts[index + 1])));
      return fault !== undefined && !/EOF/.test(fault);
    });
    const [start, end] = at < 0 ? [] : starts.slice(at);
    if (start === undefined) throw new Error('the expression is incomplete');
    throw new Error(`unexpected ${expression.slice(start, end).trim()} at character ${start + 1}`);
  }
}

interface Call {
  readonly type: 'Function';
  readonly name: string;
  readonly children: readonly unknown[];
}

/**
 * Returns the functions that an expression calls, at any depth: JMESPath looks up a function only
 * when it runs.
 */
function callsIn(node: unknown): Call[] {
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.values(node).flatMap(callsIn);
  return isCall(node) ? [node, ...inner] : inner;
}

function isCall(node: object): node is Call {
  return 'type' in node && node.type === 'Function';
}

function faultOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function wrong(expression: string, error: unknown) {
  const { message: reason } = error as Error;
  const hint = expression.includes('`')
    ? "put text in single quotes: name=='box'; backticks are for JSON"
    : /^unexpected -?\d/.test(reason)
      ? 'put a number in backticks: `100`'
      : undefined;
  const shown = expression.length > 200 ? `${expression.slice(0, 200)}…` : expression;
  return usageError(`--query "${shown}": ${reason}`, hint);
}

interface CsvStyle {
  readonly header: boolean;
  readonly csvSafe?: boolean;
}

/**
 * Formats a result as text: one document in JSON and YAML, one line per element in other formats.
 * tsv has no quotes, so a shell can use a value as is. In csv, objects are rows with a header.
 */
export async function findingText(
  finding: unknown,
  format: Format,
  { header, csvSafe = false }: CsvStyle,
): Promise<string> {
  const items = Array.isArray(finding) ? finding : [finding];
  switch (format) {
    case 'yaml':
      return (await loadYaml())(finding);
    case 'jsonl':
      return items.map(jsonLine).join('');
    case 'tsv':
      return items.map((item) => tsvLine(cellsOf(item))).join('');
    case 'csv':
      return items.every(isObject)
        ? csvText(items, header, csvSafe)
        : items.map((item) => csvLine(cellsOf(item), csvSafe)).join('');
    default:
      return jsonText(finding);
  }
}

function cellsOf(item: unknown): readonly unknown[] {
  return Array.isArray(item) ? item : [item];
}

function isObject(item: unknown): item is Record<string, unknown> {
  return typeof item === 'object' && item !== null && !Array.isArray(item);
}

function csvText(
  items: readonly Record<string, unknown>[],
  header: boolean,
  csvSafe: boolean,
): string {
  const names = [...new Set(items.flatMap(Object.keys))];
  const rows = items.map((item) =>
    csvLine(
      names.map((name) => item[name]),
      csvSafe,
    ),
  );
  return (header && names.length > 0 ? csvLine(names, csvSafe) : '') + rows.join('');
}
