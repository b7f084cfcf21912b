import type { RawRequest, RawResponse } from '../../api/index.ts';
import { isTooDeep, TOO_DEEP } from '../../api/response/envelope.ts';
import { parseExactly } from '../../api/response/exact.ts';
import { secretsIn } from '../../api/response/secrets.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { cleanLines, escapeUnseen, mask } from '../../output/index.ts';
import { clean } from '../../rules/clean.ts';
import { hider, MASK } from '../../rules/secrets.ts';

/** Paths of secrets in `data` (API document: Resources). */
const SECRETS = [
  'secret_key',
  'connection_info.secrets',
  'metadata',
  'docker_config.env[].value',
  'env_vars',
];

export interface BodyStyle {
  readonly showSecrets: boolean;
  /** Spaces per level; 0 prints a value on one line. */
  readonly indent: number;
  /**
   * Whether to print the body unchanged for another program. A secret to mask overrides this
   * setting.
   */
  readonly asItCame: boolean;
  /** Removes the active key and the request's secrets from a text. */
  hide(text: string): string;
}

export async function styleFor(request: RawRequest, context: Context): Promise<BodyStyle> {
  const { out, flags } = context;
  const { apiKey } = await context.settings();
  const secrets = [...secretsIn(request.body), ...(apiKey === undefined ? [] : [apiKey.value])];
  const isJson = out.format === 'json' || out.format === 'jsonl';
  return {
    showSecrets: flags.showSecrets === true,
    indent: out.format === 'jsonl' ? 0 : 2,
    asItCame: !out.terminal && !isJson,
    hide: hider(secrets),
  };
}

/** A whole body, ready to print. */
export interface Body {
  readonly text: string;
  /** Parsed body, for queries; undefined if it is not JSON. */
  readonly json?: { readonly value: unknown };
  /** The body is nested too deep to mask its secrets, so it is not shown. */
  readonly isTooDeep?: true;
}

export function bodyOf({ text }: RawResponse, style: BodyStyle): Body {
  const json = jsonIn(text);
  if (json === undefined) {
    if (style.asItCame) return { text: style.hide(text) };
    const lines = style.hide(cleanLines(text)).trimEnd();
    return { text: lines === '' ? '' : `${lines}\n` };
  }
  if (isTooDeep(json.value)) return { text: '', isTooDeep: true };
  const safe = safeBody(json.value, style);
  const isWhole = JSON.stringify(safe) === JSON.stringify(json.value);
  const shown = style.asItCame && isWhole ? style.hide(text) : `${written(safe, style)}\n`;
  return { text: shown, json: { value: hiddenIn(safe, style) } };
}

/** Builds the error for a successful response that {@link isTooDeep}. */
export function tooDeep({ method, path }: RawRequest, { status }: RawResponse): CliError {
  return new CliError(
    'notUnderstood',
    `The response to ${method} ${path.split('?', 1)} ${TOO_DEEP} and is hidden: could not mask its secrets.`,
    { httpStatus: status },
  );
}

/** Parses JSON. Numbers that JavaScript can't represent become strings, as in every command. */
export function jsonIn(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseExactly(text) };
  } catch {
    return undefined;
  }
}

/** Returns one element of `data` as a query sees it. */
export function elementValue(element: unknown, style: BodyStyle): unknown {
  return hiddenIn(safeThing(element, style), style);
}

/** Formats one element of `data`, without a final newline. */
export function elementText(element: unknown, style: BodyStyle): string {
  const safe = safeThing(element, style);
  // Indents the element as in an array.
  return style.indent === 0 ? written(safe, style) : written([safe], style).slice(2, -2);
}

function safeBody(body: unknown, style: BodyStyle): unknown {
  if (typeof body !== 'object' || body === null || !('data' in body)) return body;
  const { data } = body;
  const safe = Array.isArray(data)
    ? data.map((element: unknown) => safeThing(element, style))
    : safeThing(data, style);
  return { ...body, data: safe };
}

/** Keeps a bare number or string, which no documented response contains. */
function safeThing(thing: unknown, { showSecrets }: BodyStyle): unknown {
  return typeof thing === 'object' ? mask(thing, SECRETS, showSecrets) : thing;
}

function written(value: unknown, style: BodyStyle): string {
  return escapeUnseen(JSON.stringify(hiddenIn(value, style), null, style.indent));
}

/** Masks each value separately: in JSON text, a secret made of digits would match numbers. */
function hiddenIn(value: unknown, style: BodyStyle): unknown {
  if (typeof value === 'string') return style.hide(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element: unknown) => hiddenIn(element, style));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [style.hide(name), hiddenIn(inner, style)]),
  );
}

/** Session headers. A repeated API key is masked with the other secrets. */
const SECRET_HEADERS = new Set(['set-cookie', 'authorization', 'x-api-key']);

export function headText({ status, headers }: RawResponse, style: BodyStyle): string {
  const lines = Object.entries(headers).map(([name, value]) => {
    const isSecret = SECRET_HEADERS.has(name) && !style.showSecrets;
    return `${clean(name)}: ${isSecret ? MASK : style.hide(clean(value))}\n`;
  });
  return `HTTP/1.1 ${status}\n${lines.join('')}\n`;
}
