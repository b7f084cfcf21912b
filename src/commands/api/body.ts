import type { RawRequest, RawResponse } from '../../api/index.ts';
import { isTooDeep, TOO_DEEP } from '../../api/response/depth.ts';
import { parseExactly } from '../../api/response/exact.ts';
import { secretsIn } from '../../api/response/secrets.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { cleanLines, escapeUnseen, mask, PLACEHOLDER } from '../../output/index.ts';
import { clean } from '../../rules/clean.ts';

/** Where the things in `data` carry secrets (API document: Resources). */
const SECRETS = [
  'secret_key',
  'connection_info.secrets',
  'metadata',
  'docker_config.env[].value',
  'env_vars',
];

export interface BodyStyle {
  readonly showSecrets: boolean;
  /** Spaces; 0 puts a value on one line. */
  readonly indent: number;
  /** For another program: a body stays as it came unless something in it is masked. */
  readonly asItCame: boolean;
  /** Removes the active key and the secrets of the request from a text. */
  hide(text: string): string;
}

export async function styleFor(request: RawRequest, context: Context): Promise<BodyStyle> {
  const { out, flags } = context;
  const { apiKey } = await context.settings();
  const secrets = [...secretsIn(request.body), ...(apiKey === undefined ? [] : [apiKey.value])];
  // A quotation mark in a password has another form in JSON.
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  const isJson = out.format === 'json' || out.format === 'jsonl';
  return {
    showSecrets: flags.showSecrets === true,
    indent: out.format === 'jsonl' ? 0 : 2,
    asItCame: !out.terminal && !isJson,
    hide: (text) => forms.reduce((left, secret) => left.replaceAll(secret, PLACEHOLDER), text),
  };
}

/** A whole body, fit to be shown. */
export interface Body {
  readonly text: string;
  /** What a query looks into; undefined when the body is no JSON. */
  readonly json?: { readonly value: unknown };
  /** A secret so deep in it could not be masked, so nothing of it is shown. */
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

/** The error of a success whose body {@link isTooDeep}. */
export function tooDeep({ method, path }: RawRequest, { status }: RawResponse): CliError {
  return new CliError(
    'notUnderstood',
    `The answer to ${method} ${path.split('?', 1)} ${TOO_DEEP}, and is not shown: a secret in it could not be masked.`,
    { httpStatus: status },
  );
}

/** The JSON in a text. A number that JavaScript can't hold is a text, as in every command. */
export function jsonIn(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseExactly(text) };
  } catch {
    return undefined;
  }
}

/** One element of `data` as a query sees it. */
export function elementValue(element: unknown, style: BodyStyle): unknown {
  return hiddenIn(safeThing(element, style), style);
}

/** One element of `data`, without a line break at its end. */
export function elementText(element: unknown, style: BodyStyle): string {
  const safe = safeThing(element, style);
  // As the only element of an array it has the indentation of any element.
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

/** A bare number or text is no documented thing, and has no place for a secret. */
function safeThing(thing: unknown, { showSecrets }: BodyStyle): unknown {
  return typeof thing === 'object' ? mask(thing, SECRETS, showSecrets) : thing;
}

function written(value: unknown, style: BodyStyle): string {
  return escapeUnseen(JSON.stringify(hiddenIn(value, style), null, style.indent));
}

/** Hides text by text: in the JSON as a whole a secret of digits would be found in numbers. */
function hiddenIn(value: unknown, style: BodyStyle): unknown {
  if (typeof value === 'string') return style.hide(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element: unknown) => hiddenIn(element, style));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [style.hide(name), hiddenIn(inner, style)]),
  );
}

/** Headers that hand out sessions; a key of ours that is repeated is hidden with the rest. */
const SECRET_HEADERS = new Set(['set-cookie', 'authorization', 'x-api-key']);

export function headText({ status, headers }: RawResponse, style: BodyStyle): string {
  const lines = Object.entries(headers).map(([name, value]) => {
    const isSecret = SECRET_HEADERS.has(name) && !style.showSecrets;
    return `${clean(name)}: ${isSecret ? PLACEHOLDER : style.hide(clean(value))}\n`;
  });
  return `HTTP/1.1 ${status}\n${lines.join('')}\n`;
}
