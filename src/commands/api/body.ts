import type { RawRequest, RawResponse } from '../../api/index.ts';
import { fieldOf } from '../../api/open-fields.ts';
import { isTooDeep, TOO_DEEP } from '../../api/response/envelope.ts';
import { parseExactly } from '../../api/response/exact.ts';
import { secretsIn } from '../../api/response/secrets.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { jsonLine, jsonText } from '../../output/formats/json.ts';
import { cleanLines, hideIn, mask } from '../../output/index.ts';
import { clean } from '../../rules/clean.ts';
import { EVERY_SECRET, hider, MASK, SECRET_NAMES } from '../../rules/secrets.ts';

/** Masks the responses to one request. */
export interface Masking {
  /**
   * Masks a whole body: the documented secrets in `data`, or in a body without an envelope, and
   * {@link text} everywhere.
   */
  body(body: unknown): unknown;
  /** Masks one element of `data`. */
  element(element: unknown): unknown;
  /** Masks the active key and the request's secrets in a text. */
  text(text: string): string;
}

export async function maskingFor(request: RawRequest, context: Context): Promise<Masking> {
  const { apiKey } = await context.settings();
  const hide = hider([...secretsIn(request.body), ...(apiKey === undefined ? [] : [apiKey.value])]);
  const isShown = context.flags.showSecrets === true;
  // Keeps a bare number or string, which no documented response contains.
  const safeOne = (thing: unknown) =>
    mask(thing, typeof thing === 'object' ? EVERY_SECRET : [], isShown);
  const safe = (thing: unknown) => (Array.isArray(thing) ? thing.map(safeOne) : safeOne(thing));
  return {
    body(body) {
      const data = fieldOf(body, 'data');
      // A refusal, or a service behind a proxy, may leave out the envelope.
      if (typeof body !== 'object' || data === undefined) return hideIn(safe(body), hide);
      return hideIn({ ...body, data: safe(data) }, hide);
    },
    element: (element) => hideIn(safeOne(element), hide),
    text: hide,
  };
}

/** A whole body, ready to print. */
interface Body {
  readonly text: string;
  /** Masked value, for queries; undefined if the body is not JSON. */
  readonly json?: { readonly value: unknown };
  /** The body is nested too deep to mask its secrets, so it is not shown. */
  readonly isTooDeep?: true;
}

/** Keeps a body unchanged for another program, unless a secret in it was masked. */
export function bodyOf({ text }: RawResponse, masking: Masking, { out }: Context): Body {
  const isData = out.format === 'json' || out.format === 'jsonl';
  const asItCame = !out.terminal && !isData;
  const json = jsonIn(text);
  if (json === undefined) {
    if (asItCame) return { text: masking.text(text) };
    const lines = masking.text(cleanLines(text)).trimEnd();
    return { text: lines === '' ? '' : `${lines}\n` };
  }
  if (isTooDeep(json.value)) return { text: '', isTooDeep: true };
  const value = masking.body(json.value);
  const isWhole = JSON.stringify(value) === JSON.stringify(json.value);
  const written = out.format === 'jsonl' ? jsonLine : jsonText;
  return { text: asItCame && isWhole ? text : written(value), json: { value } };
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

export function headText(
  { status, headers }: RawResponse,
  masking: Masking,
  { flags }: Context,
): string {
  const lines = Object.entries(headers).map(([name, value]) => {
    const isSecret = SECRET_NAMES.has(name) && flags.showSecrets !== true;
    return `${clean(name)}: ${isSecret ? MASK : masking.text(clean(value))}\n`;
  });
  return `HTTP/1.1 ${status}\n${lines.join('')}\n`;
}
