import type * as z from 'zod/mini';

/** Whether a value is of a schema beyond doubt. */
export type Plainly = (value: unknown) => boolean;

/**
 * A quick look that spares nearly every answer the slow one: zod makes several objects for each
 * field of each row, which is most of the work of a list of 100,000. What this says yes to, zod says
 * yes to; no means that zod has to look, which also tells what is wrong.
 */
export function plainly(schema: z.core.$ZodType): Plainly {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const checks = checksOf(def.checks ?? []);
  if (checks === undefined) return never;
  const is = shape(def);
  if (checks.length === 0) return is;
  return (value) => {
    if (!is(value)) return false;
    for (const check of checks) if (!check(value)) return false;
    return true;
  };
}

function shape(def: z.core.$ZodTypes['_zod']['def']): Plainly {
  switch (def.type) {
    case 'string':
      return (value) => typeof value === 'string';
    case 'number':
      return (value) => typeof value === 'number' && Number.isFinite(value);
    case 'boolean':
      return (value) => typeof value === 'boolean';
    case 'unknown':
      return () => true;
    case 'optional': {
      const inner = plainly(def.innerType);
      return (value) => value === undefined || inner(value);
    }
    case 'nullable': {
      const inner = plainly(def.innerType);
      return (value) => value === null || inner(value);
    }
    case 'array': {
      const element = plainly(def.element);
      return (value) => Array.isArray(value) && value.every(element);
    }
    case 'object':
      return objectOf(def);
    default:
      return never;
  }
}

/** Loose objects alone: any field besides those of the shape is let through. */
function objectOf({ shape: fields, catchall }: z.core.$ZodObjectDef): Plainly {
  if (catchall?._zod.def.type !== 'unknown') return never;
  const names = Object.keys(fields);
  const tests = names.map((name) => fieldOf(fields[name]));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const row = value as Readonly<Record<string, unknown>>;
    for (let at = 0; at < names.length; at += 1) {
      if (!tests[at]?.(row[names[at] ?? ''])) return false;
    }
    return true;
  };
}

/** A field that may be anything may still not be missing. */
function fieldOf(field: z.core.$ZodType | undefined): Plainly {
  if (field === undefined) return never;
  const is = plainly(field);
  return field._zod.optin === 'optional' ? is : (value) => value !== undefined && is(value);
}

/** The rules of our own that are functions of the value; undefined where there is another. */
function checksOf(checks: readonly z.core.$ZodCheck[]): Plainly[] | undefined {
  const functions: Plainly[] = [];
  for (const { _zod } of checks) {
    const def: { check: string; fn?: (value: unknown) => unknown } = _zod.def;
    const { fn } = def;
    if (def.check !== 'custom' || typeof fn !== 'function') return undefined;
    functions.push((value) => fn(value) === true);
  }
  return functions;
}

function never(): boolean {
  return false;
}
