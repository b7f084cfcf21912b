import type { core } from 'zod/mini';
import type { Schema } from './fields.ts';

type Issue = core.$ZodIssue;

/**
 * `where` is the path inside the value; `what` completes "WHERE …" and never contains the value.
 */
export interface Odd {
  readonly where: readonly PropertyKey[];
  readonly what: string;
}

export type Checked<T> =
  | { readonly ok: true; readonly value: T; readonly odd: readonly Odd[] }
  | ({ readonly ok: false } & Odd);

/**
 * Checks a value and returns it unchanged. zod's copy would reorder fields and drop one named
 * `__proto__`; gpucloud's schemas transform no values.
 */
export function check<T>(schema: Schema<T>, value: unknown): Checked<T> {
  const [odd] = faultsIn(schema, value);
  return odd === undefined ? { ok: true, value: value as T, odd: [] } : { ok: false, ...odd };
}

export function faultsIn(schema: Schema<unknown>, value: unknown): Odd[] {
  return issuesOf(schema, value).flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ where: [...issue.path, key], what: NOT_DOCUMENTED }))
      : oddOf(issue, value),
  );
}

export const NOT_DOCUMENTED = 'is not documented';

/**
 * Checks a service's response, so that one odd field does not hide the rest. Changes the value
 * itself. An optional field of the wrong type counts as missing. A number or boolean becomes text
 * if text is expected. A wrong required part (an ID, a status, a row) is still an error.
 */
export function mend<T>(schema: Schema<T>, value: unknown): Checked<T> {
  const odd: Odd[] = [];
  const texts: { where: readonly PropertyKey[]; text: string }[] = [];
  // Ends, since each round makes at least one more value null.
  for (let isFirst = true; ; isFirst = false) {
    const issues = issuesOf(schema, value);
    if (issues.length === 0) {
      for (const { where, text } of texts) put(value, where, text);
      return { ok: true, value: value as T, odd };
    }
    for (const issue of issues) {
      const where = nearest(value, issue.path);
      if (where === undefined) return { ok: false, ...(odd[0] ?? oddOf(issue, value)) };
      const is = at(value, where);
      const wantsText = issue.code === 'invalid_type' && issue.expected === 'string';
      if (wantsText && (typeof is === 'number' || typeof is === 'boolean')) {
        texts.push({ where, text: String(is) });
      }
      if (isFirst) odd.push(oddOf(issue, value));
      put(value, where, null);
    }
  }
}

function issuesOf(schema: Schema<unknown>, value: unknown): readonly Issue[] {
  return schema().safeParse(value).error?.issues ?? [];
}

function oddOf(issue: Issue, value: unknown): Odd {
  return { where: issue.path, what: describe(issue, at(value, issue.path)) };
}

function describe(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return value === undefined ? 'is missing' : `is not of type ${issue.expected}`;
    case 'invalid_value':
      return `is not one of ${issue.values.join(', ')}`;
    case 'too_small':
      // No list has another minimum.
      return issue.origin === 'array' ? 'is empty' : `is less than ${issue.minimum}`;
    case 'too_big':
      return `is more than ${issue.maximum}`;
    case 'invalid_format':
    case 'custom':
      return `breaks the rule: ${issue.message}`;
    default:
      return 'has an unexpected shape';
  }
}

/**
 * Returns the path of the wrong value, or of its parent if the value is already missing; never of a
 * whole row.
 */
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

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) {
      return undefined;
    }
    here = Reflect.get(here, step);
  }
  return here;
}

function put(value: unknown, path: readonly PropertyKey[], what: unknown): void {
  const around = at(value, path.slice(0, -1));
  const last = path.at(-1);
  if (typeof around === 'object' && around !== null && last !== undefined) {
    Reflect.set(around, last, what);
  }
}
