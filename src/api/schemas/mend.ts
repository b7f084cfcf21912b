import { parse } from '../../schema/parse.ts';
import type { Schema } from '../../schema/schema.ts';
import { at, type Failed, failed } from './check.ts';

export type Mended<T> =
  | { readonly ok: true; readonly value: T; readonly odd: readonly Odd[] }
  | Failed;

/** A field that is of another type than the document says. `what` completes "WHERE …". */
export type Odd = Omit<Failed, 'ok'>;

/** Fields lie in fields in rows: what is not mended by then is another document. */
const PASSES = 8;

/**
 * The same as `check`, for an answer of the service, where one odd field must not hide all the rest:
 * what may be missing and has another type counts as missing, but for a number or a boolean in the
 * place of a text, which becomes its text. The value itself is changed. What can't be done without
 * (an id, a status, the row itself) is an error still.
 */
export function mend<T>(schema: Schema<T>, value: unknown): Mended<T> {
  const odd: Odd[] = [];
  const texts: { where: readonly PropertyKey[]; text: string }[] = [];
  for (let pass = 0; pass < PASSES; pass += 1) {
    const result = parse(schema, value);
    if (result.ok) {
      for (const { where, text } of texts) put(value, where, text);
      return { ok: true, value: value as T, odd };
    }
    for (const fault of result.faults) {
      const told = failed(fault, value);
      const where = nearest(value, fault.path);
      if (where === undefined) return { ok: false, ...(odd[0] ?? told) };
      const is = at(value, where);
      const wantsText = fault.code === 'invalid_type' && fault.expected === 'string';
      if (wantsText && (typeof is === 'number' || typeof is === 'boolean')) {
        texts.push({ where, text: String(is) });
      }
      if (pass === 0) odd.push(told);
      put(value, where, null);
    }
  }
  return { ok: false, ...(odd[0] ?? { where: [], what: 'has another shape' }) };
}

/** The thing that is at fault, or the one around it when that is nothing already; no whole row. */
function nearest(
  value: unknown,
  where: readonly PropertyKey[],
): readonly PropertyKey[] | undefined {
  const row = Array.isArray(value) ? 1 : 0;
  for (let length = where.length; length > row; length -= 1) {
    const path = where.slice(0, length);
    const is = at(value, path);
    if (is !== null && is !== undefined) return path;
  }
  return undefined;
}

function put(value: unknown, path: readonly PropertyKey[], what: unknown): void {
  const around = at(value, path.slice(0, -1));
  const last = path.at(-1);
  if (typeof around === 'object' && around !== null && last !== undefined) {
    Reflect.set(around, last, what);
  }
}
