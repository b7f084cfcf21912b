import type * as z from 'zod/mini';

type Schema<T> = z.ZodMiniType<T>;

export type Checked<T> = { readonly ok: true; readonly value: T } | Failed;

/** `where` is the path below the checked value; `what` completes "WHERE …", without any value. */
export interface Failed {
  readonly ok: false;
  readonly where: readonly PropertyKey[];
  readonly what: string;
}

/**
 * Checks a value and gives back that very value, not a copy, so that unknown fields and the order
 * of fields stay. This is sound because no schema of this folder transforms anything.
 */
export function check<T>(schema: Schema<T>, value: unknown): Checked<T> {
  const result = schema.safeParse(value);
  if (result.success) {
    return { ok: true, value: value as T };
  }
  const issue = result.error.issues[0];
  if (issue === undefined) {
    return { ok: false, where: [], what: 'has another shape' };
  }
  return { ok: false, ...failed(issue, value) };
}

/** Where and what a fault is. */
export function failed(issue: z.core.$ZodIssue, value: unknown): Omit<Failed, 'ok'> {
  return issue.code === 'unrecognized_keys'
    ? { where: [...issue.path, issue.keys[0] ?? ''], what: 'is not documented' }
    : { where: issue.path, what: words(issue, at(value, issue.path)) };
}

function words(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return value === undefined ? 'is missing' : `is not of the type ${issue.expected}`;
    case 'invalid_value':
      return `is none of ${issue.values.join(', ')}`;
    case 'too_small':
      return `is less than ${issue.minimum}`;
    case 'too_big':
      return `is more than ${issue.maximum}`;
    case 'invalid_format':
    case 'custom':
      return `breaks the rule: ${issue.message}`;
    default:
      return 'has another shape';
  }
}

/** What stands at a path; undefined where nothing does. */
export function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) {
      return undefined;
    }
    here = Reflect.get(here, step);
  }
  return here;
}
