import { idKey } from '../../rules/names.ts';
import type { HttpResponse } from '../http/exchange.ts';
import { numberField, textField } from '../open-fields.ts';
import type { Prepared } from '../request.ts';
import { check, mend, type Odd } from '../schemas/check.ts';
import { type Meta, meta } from '../schemas/fields.ts';
import { parseExactly } from './exact.ts';

type Understood<T> =
  /** `odd` lists undocumented fields, each text completing "WHERE …". */
  | { readonly ok: true; readonly value: T; readonly odd: readonly string[] }
  /** `what` completes "Could not read the response: …" and contains no response value. */
  | { readonly ok: false; readonly what: string };

const NOTHING: Understood<unknown> = { ok: true, value: undefined, odd: [] };

/**
 * Reads a success (API document: Conventions, success envelope): the `data` object itself, plus its
 * pagination object if it is a page. An operation without data accepts a JSON object, or an empty
 * 204.
 */
export function readResponse(
  response: HttpResponse,
  { operation, input }: Pick<Prepared, 'operation' | 'input'>,
): Understood<unknown> {
  const { data: schema, pageSize, instance } = operation;
  if (schema === undefined && response.status === 204 && response.text === '') return NOTHING;
  const body = bodyOf(response);
  if (!body.ok) return body;
  if (schema === undefined) {
    return isError(body.value) ? { ok: false, what: 'it reports an error' } : NOTHING;
  }
  const data = mend(schema, body.value.data);
  if (!data.ok) return { ok: false, what: placed('data', data) };
  const odd = data.odd.map((one) => placed('data', one));
  if (instance !== undefined) spellIds(data.value, instance);
  if (pageSize === undefined) return { ok: true, value: data.value, odd };
  const pagination = check(meta, body.value.meta);
  if (!pagination.ok) return { ok: false, what: placed('meta', pagination) };
  const { length } = rowsOf(data.value);
  const page = numberField(input.query, 'page') ?? 1;
  const limit = numberField(input.query, 'limit') ?? pageSize;
  const whole = completed(pagination.value ?? {}, { page, limit }, length);
  return { ok: true, value: { data: data.value, meta: whole }, odd };
}

/**
 * Recognizes both documented shapes of an error (API document: Errors), whatever the HTTP status.
 */
function isError({ status, code, statusCode }: Record<string, unknown>): boolean {
  const failed = (number: unknown) => typeof number === 'number' && number >= 400;
  return failed(code) || failed(statusCode) || (status !== undefined && status !== 'success');
}

/** Normalizes the spelling of instance IDs in place. */
function spellIds(data: unknown, field: string): void {
  for (const row of rowsOf(data)) {
    const id = textField(row, field);
    if (id !== undefined) Object.assign(Object(row), { [field]: idKey(id) });
  }
}

function rowsOf(data: unknown): unknown[] {
  return Array.isArray(data) ? data : [data];
}

/** Formats a fault as `data.3.id is missing`. */
function placed(part: string, { where, what }: Odd): string {
  return `${[part, ...where.map(String)].join('.')} ${what}`;
}

function bodyOf(response: HttpResponse): Understood<Record<string, unknown>> {
  if (response.problem !== undefined) return { ok: false, what: `it ${response.problem}` };
  if (response.text.trim() === '') return { ok: false, what: 'it is empty' };
  let json: unknown;
  try {
    json = parseExactly(response.text);
  } catch {
    return /^\s*</.test(response.text)
      ? { ok: false, what: 'it is an HTML page, perhaps from a proxy' }
      : { ok: false, what: 'it is not valid JSON' };
  }
  if (isTooDeep(json)) return { ok: false, what: `it ${TOO_DEEP}` };
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return { ok: false, what: 'it is not a JSON object' };
  }
  return { ok: true, value: { ...json }, odd: [] };
}

/**
 * Fills in missing pagination: another page may follow a full page, but not a shorter page. If a
 * page has more rows than requested, the service does not page.
 */
function completed(
  totals: { [field in keyof Meta]?: number | null | undefined },
  requested: { page: number; limit: number },
  length: number,
): Meta {
  const page = totals.page ?? requested.page;
  const limit = totals.limit ?? requested.limit;
  const seen = Math.max(0, page - 1) * limit + length;
  const total = totals.total ?? seen;
  const isCounted = totals.total != null;
  const pages = isCounted
    ? Math.ceil(total / Math.max(1, limit))
    : page + (length === limit ? 1 : length === 0 ? -1 : 0);
  return { total, isCounted, page, limit, total_pages: totals.total_pages ?? Math.max(0, pages) };
}

/**
 * Maximum nesting of a response. Documented responses have about six levels. Masking secrets and
 * writing JSON and YAML recurse; Node's stack overflows at about 1,500 levels.
 */
export const DEEPEST = 500;

/** Completes "the response …". */
export const TOO_DEEP = `is nested more than ${DEEPEST} levels deep`;

/** Whether a JSON value is nested more than {@link DEEPEST} levels deep. */
export function isTooDeep(value: unknown, levels = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Object.values(value)) if (isTooDeep(inner, levels - 1)) return true;
  return false;
}
