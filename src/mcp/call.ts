import { Readable, Writable } from 'node:stream';
import type { Rerun } from '../command-line/verb.ts';
import type { Host } from '../context.ts';
import { withoutKeys } from '../rules/secrets.ts';
import type { Given } from './arguments.ts';
import type { CallToolResult } from './sdk.ts';
import type { Tool } from './tools.ts';

/** Characters of a result. A larger one is cut. */
const LONGEST = 100_000;

/** Bytes of a command's output that are kept at least: its last. */
const KEPT = 16 * 1024 * 1024;

/** A query blocks the server, and so the end of its session. */
const QUERY_LIMITS = { milliseconds: 1000, characters: KEPT };

/** Keeps the end of a command's output. */
class Kept extends Writable {
  #chunks: Buffer[] = [];
  #size = 0;
  isCut = false;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > 2 * KEPT) {
      this.#chunks = [Buffer.concat(this.#chunks).subarray(-KEPT)];
      this.#size = KEPT;
      this.isCut = true;
    }
    done();
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

/** What a command printed, and its exit code. */
export type Ran = Awaited<ReturnType<typeof runCommand>>;

/** Runs a command in this process, on streams of its own. */
export async function runCommand(
  argv: readonly string[],
  own: Partial<Pick<Host, 'env' | 'interrupts' | 'session' | 'onNote'>>,
  rerun: Rerun,
) {
  const [stdout, stderr] = [new Kept(), new Kept()];
  const code = await rerun(argv, {
    ...own,
    stdin: Readable.from([]),
    stdout,
    stderr,
    syncWrite: undefined,
    onStdinData: () => undefined,
    isStdoutNull: () => false,
    onThirdInterrupt: () => () => undefined,
    queryLimits: QUERY_LIMITS,
  });
  return { code, stdout, stderr };
}

interface Warning {
  readonly code: string;
  readonly message: string;
}

type Content = Record<string, unknown> & { warnings?: readonly Warning[] };

/** Turns what a command printed into a tool's result. */
export function resultOf(
  tool: Tool,
  given: Given,
  { code, stdout, stderr }: Ran,
  purse: object | undefined,
): CallToolResult {
  // A passed on output is no result, even if it is JSON.
  const isText = tool.passesOn && given.dry_run !== true && given.detach !== true;
  const printed = isText || stdout.isCut ? undefined : jsonIn(stdout.text);
  const isChosen = given.query !== undefined || given.columns !== undefined;
  const output = printed === undefined ? withoutKeys(stdout.text) : '';
  const content = {
    ...(printed === undefined ? {} : { [isChosen ? 'selected' : 'result']: printed }),
    ...(output === '' ? {} : { output }),
    ...(code === 0 ? {} : { exit_code: code }),
    ...messagesIn(stderr.text),
    ...(purse && { purse }),
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
  const found: Content = {};
  const warnings: Warning[] = [];
  const others: string[] = [];
  for (const line of text.split('\n')) {
    const { warning, error, run } = line.startsWith('{') ? Object(jsonIn(line)) : {};
    if (warning !== undefined) warnings.push(warning);
    else if (error !== undefined) found.error = error;
    else if (run !== undefined) found.report = run;
    else others.push(line);
  }
  const stderr = withoutKeys(others.join('\n').trim());
  return {
    ...found,
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(stderr === '' ? {} : { stderr }),
  };
}

const NARROW = 'Use query or columns, or a limit, to get less.';

function shortened(content: Content): Content {
  if (sizeOf(content) <= LONGEST) return content;
  const { result, selected, output, stderr, ...rest } = content;
  const [field, value] = result === undefined ? ['selected', selected] : ['result', result];
  if (Array.isArray(value)) {
    let left = LONGEST - sizeOf(rest) - 500;
    const rows = value.filter((row) => {
      left -= sizeOf(row) + 1;
      return left >= 0;
    });
    return {
      ...rest,
      [field]: rows,
      cut: `Only ${rows.length} of ${value.length} rows. ${NARROW}`,
    };
  }
  if (value !== undefined) return { ...rest, cut: `The result is too large. ${NARROW}` };
  // JSON may need six characters for one.
  const most = Math.floor(LONGEST / 15);
  const texts = Object.entries({ output, stderr }).map(([name, text]) => [
    name,
    typeof text === 'string' ? text.slice(-most) : '',
  ]);
  return { ...rest, ...Object.fromEntries(texts), cut: `Only the last ${most} characters.` };
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}
