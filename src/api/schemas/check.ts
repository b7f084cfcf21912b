import { type Fault, parse } from '../../schema/parse.ts';
import type { Schema } from '../../schema/schema.ts';

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
  const result = parse(schema, value);
  return result.ok
    ? { ok: true, value: value as T }
    : { ok: false, ...failed(result.faults[0], value) };
}

/** Where and what a fault is. */
export function failed(fault: Fault, value: unknown): Omit<Failed, 'ok'> {
  return fault.code === 'unrecognized_keys'
    ? { where: [...fault.path, fault.keys[0] ?? ''], what: 'is not documented' }
    : { where: fault.path, what: words(fault, at(value, fault.path)) };
}

function words(fault: Fault, value: unknown): string {
  switch (fault.code) {
    case 'invalid_type':
      return value === undefined ? 'is missing' : `is not of the type ${fault.expected}`;
    case 'invalid_value':
      return `is none of ${fault.values.join(', ')}`;
    case 'too_small':
      return `is less than ${fault.minimum}`;
    case 'too_big':
      return `is more than ${fault.maximum}`;
    case 'invalid_format':
    case 'custom':
      return `breaks the rule: ${fault.message}`;
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
