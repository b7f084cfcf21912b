import type { Page } from '../contract.ts';
import type { HttpResponse } from '../http/body.ts';
import { check, mend, type Odd } from '../schemas/check.ts';
import type { Schema } from '../schemas/fields.ts';
import { type Meta, meta } from '../schemas/page.ts';
import { isTooDeep, TOO_DEEP } from './depth.ts';
import { parseExactly } from './exact.ts';

export type Understood<T> =
  /** `odd` lists undocumented fields, each as "WHERE …". */
  | { readonly ok: true; readonly value: T; readonly odd: readonly string[] }
  /** `what` completes "Could not read the response: …" and contains no value of it. */
  | { readonly ok: false; readonly what: string };

/** Returns the `data` object of a success itself (API document: Conventions, success envelope). */
export function dataOf<T>(response: HttpResponse, schema: Schema<T>): Understood<T> {
  const body = bodyOf(response);
  return body.ok ? checkedData(body.value, schema) : body;
}

/** Accepts a success without contents: a JSON object, or nothing with 204. */
export function acknowledged(response: HttpResponse): Understood<void> {
  if (response.status === 204 && response.text === '')
    return { ok: true, value: undefined, odd: [] };
  const body = bodyOf(response);
  return body.ok ? { ok: true, value: undefined, odd: [] } : body;
}

/** Reads a list with its pagination object; `requested` fills in what the service omits. */
export function pageOf<T>(
  response: HttpResponse,
  schema: Schema<T[]>,
  requested: { page: number; limit: number },
): Understood<Page<T>> {
  const body = bodyOf(response);
  if (!body.ok) return body;
  const data = checkedData(body.value, schema);
  if (!data.ok) return data;
  const pagination = check(meta, body.value.meta);
  if (!pagination.ok) {
    return { ok: false, what: placed('meta', pagination) };
  }
  const whole = completed(pagination.value ?? {}, requested, data.value.length);
  return { ok: true, value: { data: data.value, meta: whole }, odd: data.odd };
}

function checkedData<T>(body: Record<string, unknown>, schema: Schema<T>): Understood<T> {
  if (!Object.hasOwn(body, 'data')) return { ok: false, what: 'data is missing' };
  const result = mend(schema, body.data);
  return result.ok
    ? { ok: true, value: result.value, odd: result.odd.map((odd) => placed('data', odd)) }
    : { ok: false, what: placed('data', result) };
}

/** `data.3.id is missing`. */
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
      : { ok: false, what: 'it is not complete JSON' };
  }
  if (isTooDeep(json)) return { ok: false, what: `it ${TOO_DEEP}` };
  return isObject(json)
    ? { ok: true, value: json, odd: [] }
    : { ok: false, what: 'it is not a JSON object' };
}

/** API document: Conventions, success envelope. Callers check its contents. */
function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/**
 * Without pagination from the service, a full page may have a successor and a shorter one is the
 * last. A page with more rows than requested means that the service does not page at all.
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
  const pages =
    totals.total === undefined || totals.total === null
      ? page + (length === limit ? 1 : length === 0 ? -1 : 0)
      : Math.ceil(total / Math.max(1, limit));
  return { total, page, limit, total_pages: totals.total_pages ?? Math.max(0, pages) };
}
