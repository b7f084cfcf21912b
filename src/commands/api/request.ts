import type { RawRequest } from '../../api/index.ts';
import { refuseLostSecret } from '../../command-line/creation.ts';
import { readInput } from '../../command-line/input.ts';
import { brokenRule, checked, refuseSecret } from '../../command-line/parse.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { broken, kept, type Verdict } from '../../rules/rule.ts';

interface ApiInput {
  readonly method: string;
  readonly path: string;
  /** `name=value` with a string value. */
  readonly rawFields: readonly string[];
  /** `name=value` with a typed value or `@file`. */
  readonly fields: readonly string[];
  /** A file with the body, or `-`. */
  readonly input: string | undefined;
  readonly paginate: boolean;
}

/** One parsed `-f` or `-F` flag. */
interface Field {
  readonly name: string;
  /** The value in a query. */
  readonly text: string;
  /** Value in a body as JSON text, so that a number keeps all its digits. */
  readonly json: string;
}

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Builds the request and checks every rule before connecting. Throws a usage error with the flag,
 * the rule and the value; omits a value that is a secret.
 */
export async function requestOf(input: ApiInput, context: Context): Promise<RawRequest> {
  refuseSecret('PATH', input.path);
  const method = input.method.toUpperCase();
  if (!METHODS.includes(method)) {
    throw brokenRule('METHOD', input.method, `must be one of ${METHODS.join(', ')}`);
  }
  const path = checked('PATH', input.path, apiPath);
  const isRead = method === 'GET' || method === 'HEAD';
  if (!isRead) refuseLosing(method, path, context);
  refusePages(input, method, path);
  if (input.input !== undefined && isRead) {
    throw usageError(`--input: a ${method} has no body`, 'pass the query with -f');
  }
  refuseStdinTwice(input);
  const fields = await fieldsOf(input, context);
  const body = await bodyOf(input, isRead ? [] : fields, context);
  const asQuery = isRead || input.input !== undefined;
  return {
    method,
    path,
    ...(asQuery ? { query: Object.fromEntries(fields.map(({ name, text }) => [name, text])) } : {}),
    ...(body === undefined ? {} : { body }),
  };
}

/**
 * Refuses requests that rent, or that create a key whose secret nobody would see: other commands
 * store these results.
 */
function refuseLosing(method: string, path: string, context: Context): void {
  const segments = segmentsOf(path);
  const last = segments.at(-1);
  const isReorder = segments.at(-3) === 'instances' && last === 'reorder';
  if (last === 'instances' || isReorder) {
    throw usageError(
      "PATH: api can't rent instances, since gpucloud would not track their costs",
      isReorder
        ? `use "${gpucloud('instances', 'reorder')}"`
        : `use "${gpucloud('instances', 'create')}", which accepts the same body with --file`,
    );
  }
  if (!createsKey({ method, path })) return;
  if (context.flags.showSecrets !== true) {
    throw usageError(
      "PATH: this response shows the new key's secret only once, and api would mask it",
      `create the key with "${gpucloud('api-keys', 'create')}", or add --show-secrets`,
    );
  }
  refuseLostSecret(
    context,
    `save it: ${gpucloud('api-keys', 'create', 'NAME', '--key-file', 'FILE')}`,
  );
}

/** Whether the response contains the secret of a new API key. */
export function createsKey({ method, path }: Pick<RawRequest, 'method' | 'path'>): boolean {
  return method === 'POST' && segmentsOf(path).at(-1) === 'api-keys';
}

function refusePages(input: ApiInput, method: string, path: string): void {
  if (!input.paginate) {
    return;
  }
  if (method !== 'GET') {
    throw usageError(`--paginate needs GET, not ${method}`);
  }
  const query = new URLSearchParams(path.split('?').slice(1).join('?'));
  const named = [...input.rawFields, ...input.fields].map((text) => text.split('=', 1)[0]);
  if (query.has('page') || named.includes('page')) {
    throw usageError('--paginate reads every page; omit the page field');
  }
}

function refuseStdinTwice({ fields, input }: ApiInput): void {
  const readers = fields.filter((text) => text.slice(text.indexOf('=') + 1) === '@-').length;
  if (readers + (input === '-' ? 1 : 0) > 1) {
    throw usageError('only one --input or --field can read stdin');
  }
}

async function fieldsOf(input: ApiInput, context: Context): Promise<Field[]> {
  const fields: Field[] = [];
  for (const text of input.rawFields) {
    const [name, value] = parted('--raw-field', text);
    refuseSecretField('--raw-field', name);
    fields.push({ name, text: value, json: JSON.stringify(value) });
  }
  for (const text of input.fields) {
    fields.push(await typedField(text, context));
  }
  const names = fields.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw usageError(`--field "${twice}" is set more than once`);
  }
  return fields;
}

async function typedField(text: string, context: Context): Promise<Field> {
  const [name, value] = parted('--field', text);
  if (value.startsWith('@')) {
    const content = await readInput('--field', value.slice(1), context);
    return { name, text: content, json: JSON.stringify(content) };
  }
  refuseSecretField('--field', name);
  const isLiteral = /^(true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?)$/.test(
    value,
  );
  return { name, text: value, json: isLiteral ? value : JSON.stringify(value) };
}

function parted(flag: string, text: string): [name: string, value: string] {
  refuseSecret(flag, text);
  const at = text.indexOf('=');
  if (at < 1) {
    // Hides the argument: it may be a secret without its name.
    throw usageError(`${flag}: must be NAME=VALUE (text hidden)`);
  }
  const name = text.slice(0, at);
  if (/[[\]]/.test(name)) {
    throw usageError(
      `${flag} "${name}": flags can't build nested fields`,
      'send the whole body as JSON with --input',
    );
  }
  return [name, text.slice(at + 1)];
}

function refuseSecretField(flag: string, name: string): void {
  if (/password|passwd|secret|token|api[-_]?key/i.test(name)) {
    throw usageError(
      `${flag} "${name}": a secret on the command line is visible to other programs and the shell's history (value hidden)`,
      `use --field ${name}=@FILE, or send the whole body with --input FILE; - is stdin`,
    );
  }
}

async function bodyOf(
  { input }: ApiInput,
  fields: readonly Field[],
  context: Context,
): Promise<string | undefined> {
  if (input !== undefined) {
    const text = await readInput('--input', input, context);
    try {
      JSON.parse(text);
    } catch {
      throw usageError(`--input "${input === '-' ? 'stdin' : input}": it is not valid JSON`);
    }
    return text;
  }
  if (fields.length === 0) {
    return undefined;
  }
  return `{${fields.map(({ name, json }) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
}

/**
 * Checks that a path stays below the base URL as read by gpucloud, by a proxy, and by a server that
 * decodes twice. A query is allowed. Adds a missing slash at the start: Git Bash on Windows turns
 * `/users/me` into a Windows path.
 */
export function apiPath(typed: string): Verdict<string> {
  if (/^[a-z]:[\\/]/i.test(typed)) {
    return broken(
      'must not be a Windows path. Git Bash replaces a slash at the start: leave it out, as in users/me',
    );
  }
  const text = /^[\w-]+(?:[/?]|$)/.test(typed) ? `/${typed}` : typed;
  if (!/^\/(?!\/)[!-~]*$/.test(text) || /[\\#"<>^`{|}]/.test(text)) {
    return broken('must be a path below the base URL in percent-encoded ASCII, such as /users/me');
  }
  const [path = ''] = text.split('?', 1);
  return path.split('/').every(isPlain)
    ? kept(text)
    : broken('a segment must not be "." or "..", or encode a slash, "?", "#" or "%"');
}

function isPlain(segment: string): boolean {
  const text = decoded(segment) ?? '..';
  return text !== '.' && text !== '..' && !/[/\\?#%\u0000-\u001f\u007f]/.test(text);
}

/** Returns the path as a server reads it: decoded, in lower case, without empty segments. */
export function segmentsOf(path: string): string[] {
  const [way = ''] = path.split('?', 1);
  return way
    .split('/')
    .map((segment) => (decoded(segment) ?? segment).toLowerCase())
    .filter((segment) => segment !== '');
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
