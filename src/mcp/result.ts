import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { withoutKeys } from '../rules/secrets.ts';
import type { Given } from './arguments.ts';
import type { Tool } from './tools.ts';

/** Characters of a result. A larger one is cut. */
const LONGEST = 100_000;

/** What a command printed, and its exit code. */
export type Ran = Readonly<Record<'stdout' | 'stderr', string> & { code: number }>;

type Warning = Readonly<Record<'code' | 'message', string>>;
type Content = Record<string, unknown> & { warnings?: readonly Warning[] | undefined };

/** Turns what a command printed into a tool's result. */
export function resultOf(
  { passesOn }: Pick<Tool, 'passesOn'>,
  { dry_run, detach, query, columns }: Given,
  { code, stdout, stderr }: Ran,
  purse: object | undefined,
): CallToolResult {
  // A passed on output is no result, even if it is JSON.
  const isText = passesOn && dry_run !== true && detach !== true;
  const printed = isText ? undefined : jsonIn(stdout);
  const content = {
    [(query ?? columns) === undefined ? 'result' : 'selected']: printed,
    output: (printed === undefined && withoutKeys(stdout)) || undefined,
    exit_code: code || undefined,
    ...messagesIn(stderr),
    purse,
  };
  return asResult(content, code !== 0);
}

/** Returns a result, also as text for clients that read no structured content. */
export function asResult(content: Content, isError: boolean): CallToolResult {
  const structuredContent = shortened(content);
  const text = JSON.stringify(structuredContent);
  return { content: [{ type: 'text', text }], structuredContent, isError };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text, (_name, value) =>
      typeof value === 'string' ? withoutKeys(value) : value,
    );
  } catch {
    return undefined;
  }
}

/** Separates gpucloud's own lines of stderr, which are JSON, from those of a program that it ran. */
export function messagesIn(text: string): Content {
  const [warnings, others]: [Warning[], string[]] = [[], []];
  const found: Content = {};
  for (const line of text.split('\n')) {
    const { warning, error, run } = line.startsWith('{') ? Object(jsonIn(line)) : {};
    if (warning !== undefined) warnings.push(warning);
    else if (error !== undefined) found.error = error;
    else if (run !== undefined) found.report = run;
    else others.push(line);
  }
  if (warnings.length > 0) found.warnings = warnings;
  found.stderr = withoutKeys(others.join('\n').trim()) || undefined;
  return found;
}

const NARROW = 'Use query or columns, or a limit, to get less.';

function shortened(content: Content): Content {
  if (sizeOf(content) <= LONGEST) return content;
  const { result, selected = result, output = '', stderr = '', ...rest } = content;
  if (selected === undefined) {
    // JSON may need six characters for one.
    const most = Math.floor(LONGEST / 15);
    const [out, err] = [output, stderr].map((text) => String(text).slice(-most));
    return { ...rest, output: out, stderr: err, cut: `Only the last ${most} characters.` };
  }
  if (!Array.isArray(selected)) return { ...rest, cut: `The result is too large. ${NARROW}` };
  let left = LONGEST - sizeOf(rest) - 500;
  const rows = selected.filter((row) => {
    left -= sizeOf(row) + 1;
    return left >= 0;
  });
  const cut = `Only ${rows.length} of ${selected.length} rows. ${NARROW}`;
  return { ...rest, [result === undefined ? 'selected' : 'result']: rows, cut };
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}
