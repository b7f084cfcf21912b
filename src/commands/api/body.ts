import { isTooDeep } from '../../api/response/depth.ts';
import { parseExactly } from '../../api/response/exact.ts';
import { cleanLines, escapeUnseen, mask } from '../../output/index.ts';

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
  /** For another program, which gets a body as it came where nothing in it is masked. */
  readonly asItCame: boolean;
  /** Takes the key in force and the secrets of the request out of a text. */
  hide(text: string): string;
}

/**
 * A whole body as it is shown: JSON with its secrets masked, or a text without terminal controls.
 * Nothing of JSON that is nested too deep, in which no secret can be looked for.
 */
export function bodyText(text: string, style: BodyStyle): string {
  const value = parsed(text);
  if (value !== undefined) {
    if (isTooDeep(value.json)) return '';
    const safe = written(safeBody(value.json, style), style);
    const isWhole = safe === written(value.json, style);
    return style.asItCame && isWhole ? style.hide(text) : `${safe}\n`;
  }
  if (style.asItCame) {
    return style.hide(text);
  }
  return text.trim() === '' ? '' : `${style.hide(cleanLines(text)).trimEnd()}\n`;
}

/** One element of `data`, without a line break at its end. */
export function elementText(element: unknown, style: BodyStyle): string {
  const safe = safeThing(element, style);
  // As the only element of an array it has the indentation of any element.
  return style.indent === 0 ? written(safe, style) : written([safe], style).slice(2, -2);
}

/** A whole body as a query sees it, undefined when it is no JSON. Secrets are masked before it looks. */
export function bodyValue(text: string, style: BodyStyle): { readonly json: unknown } | undefined {
  const value = parsed(text);
  return value === undefined ? undefined : { json: seen(safeBody(value.json, style), style) };
}

/** The same of one element of `data`. */
export function elementValue(element: unknown, style: BodyStyle): unknown {
  return seen(safeThing(element, style), style);
}

/** With numbers that can be compared, but for those that JavaScript would round: they stay texts. */
function seen(marked: unknown, { hide }: BodyStyle): unknown {
  return hiddenIn(parseExactly(unmarked(JSON.stringify(marked))), hide);
}

/** Text by text: in the JSON as a whole a secret of digits would be found in numbers. */
function hiddenIn(value: unknown, hide: BodyStyle['hide']): unknown {
  if (typeof value === 'string') return hide(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element: unknown) => hiddenIn(element, hide));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [hide(name), hiddenIn(inner, hide)]),
  );
}

function safeBody(body: unknown, style: BodyStyle): unknown {
  if (typeof body !== 'object' || body === null || !('data' in body)) {
    return body;
  }
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
  return style.hide(escapeUnseen(unmarked(JSON.stringify(value, null, style.indent))));
}

/** Stands before each number while it is held as a text; the service sends no such character. */
const MARK = '\uE000';

/**
 * The JSON in a text, undefined when it is none. Numbers are held as marked texts, since JavaScript
 * would round what is longer than its own numbers, and nothing here may alter an answer.
 */
export function parsed(text: string): { readonly json: unknown } | undefined {
  try {
    const json: unknown = JSON.parse(text);
    if (text.includes(MARK) || /\\ue000/i.test(text)) {
      return { json };
    }
    const marked = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*/g, (token) =>
      token.startsWith('"') ? token : `"${MARK}${token}"`,
    );
    return { json: JSON.parse(marked) };
  } catch {
    return undefined;
  }
}

function unmarked(json: string): string {
  return json.replace(/"\uE000([^"]*)"/g, '$1');
}

/** A number of a body that was read by {@link parsed}; undefined for anything else. */
export function numberIn(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number(value.replace(MARK, '')) : value;
  const isMarked = typeof value !== 'string' || value.startsWith(MARK);
  return isMarked && typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
