import { Readable, Writable } from 'node:stream';
import type { Rerun } from '../command-line/verb.ts';
import type { Host, Session } from '../context.ts';
import { withoutKeys } from '../rules/secrets.ts';
import type { CallToolResult } from './sdk.ts';
import type { Tool } from './tools.ts';

/** Characters of a result. A larger one is cut. */
const LONGEST = 100_000;

/** Bytes of a command's output that are kept: its last. */
const KEPT = 16 * 1024 * 1024;

/** Keeps the end of a command's output. */
class Kept extends Writable {
  #chunks: Buffer[] = [];
  #size = 0;
  isCut = false;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > 2 * KEPT) {
      this.#chunks = [this.#bytes().subarray(-KEPT)];
      this.#size = KEPT;
      this.isCut = true;
    }
    done();
  }

  #bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  get text(): string {
    return this.#bytes().toString('utf8');
  }
}

export interface Run {
  readonly argv: readonly string[];
  readonly session: Session | undefined;
  readonly interrupts: Host['interrupts'];
}

/** What a command printed, and its exit code. */
export interface Ran {
  readonly code: number;
  readonly stdout: Kept;
  readonly stderr: Kept;
}

/** Runs a command in this process, on streams of its own. */
export async function runCommand({ argv, session, interrupts }: Run, rerun: Rerun): Promise<Ran> {
  const stdout = new Kept();
  const stderr = new Kept();
  const code = await rerun(argv, {
    stdin: Readable.from([]),
    stdout,
    stderr,
    syncWrite: undefined,
    interrupts,
    onStdinData: () => undefined,
    isStdoutNull: () => false,
    onThirdInterrupt: () => () => undefined,
    ...(session && { session }),
  });
  return { code, stdout, stderr };
}

/** The structured content of a result. */
export interface Content extends Record<string, unknown> {
  result?: unknown;
  output?: string;
  cut?: string;
}

/** Turns what a command printed into a tool's result. */
export function resultOf(
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  { code, stdout, stderr }: Ran,
  purse: object | undefined,
): CallToolResult {
  const isText = tool.passesOn && given.dry_run !== true && given.detach !== true;
  const printed = isText || stdout.isCut ? undefined : jsonIn(stdout.text);
  const isChosen = given.query !== undefined || given.columns !== undefined;
  const text = withoutKeys(stdout.text);
  const content: Content = {
    ...(printed === undefined ? {} : { [isChosen ? 'selected' : 'result']: printed }),
    ...(printed === undefined && text !== '' ? { output: text } : {}),
    ...(code === 0 ? {} : { exit_code: code }),
    ...messagesIn(stderr.text),
    ...(purse && { purse }),
  };
  return asResult(content, code !== 0);
}

/** Returns a result of at most {@link LONGEST} characters, as text too for clients that read no structured content. */
export function asResult(content: Content, isError: boolean): CallToolResult {
  const shown = shortened(content);
  return {
    content: [{ type: 'text', text: JSON.stringify(shown) }],
    structuredContent: shown,
    isError,
  };
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

/** Separates gpucloud's own lines, which are JSON, from those of a program that it ran. */
export function messagesIn(text: string): Content {
  const warnings: unknown[] = [];
  let error: unknown;
  let report: unknown;
  const others: string[] = [];
  for (const line of text.split('\n')) {
    const message = line.startsWith('{') ? Object(jsonIn(line)) : {};
    if (message.warning !== undefined) warnings.push(message.warning);
    else if (message.error !== undefined) error = message.error;
    else if (message.run !== undefined) report = message.run;
    else others.push(line);
  }
  const stderr = withoutKeys(others.join('\n').trim());
  return {
    ...(error === undefined ? {} : { error }),
    ...(report === undefined ? {} : { report }),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(stderr === '' ? {} : { stderr }),
  };
}

const NARROW = 'Use query or columns, or a limit, to get less.';

function shortened(content: Content): Content {
  const size = (part: Content) => JSON.stringify(part).length;
  const over = size(content) - LONGEST;
  if (over <= 0) return content;
  const { result, selected, output, stderr, ...rest } = content;
  const [field, list] = result === undefined ? ['selected', selected] : ['result', result];
  if (Array.isArray(list)) {
    const rows: unknown[] = [];
    let left = LONGEST - size(rest) - 500;
    for (const row of list) {
      left -= JSON.stringify(row).length + 1;
      if (left < 0) break;
      rows.push(row);
    }
    return { ...rest, [field]: rows, cut: `Only ${rows.length} of ${list.length} rows. ${NARROW}` };
  }
  if (list !== undefined) return { ...rest, cut: `The result is too large. ${NARROW}` };
  // JSON escapes may double the length.
  const half = LONGEST / 6;
  const end = (text: unknown) => (typeof text === 'string' ? text.slice(-half) : undefined);
  return {
    ...rest,
    output: end(output) ?? '',
    ...(stderr === undefined ? {} : { stderr: end(stderr) }),
    cut: `Only the last ${Math.round(half)} characters of the output.`,
  };
}
