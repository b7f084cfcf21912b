import * as z from 'zod/mini';
import type { Check, Fields, Schema } from './schema.ts';

/** What is wrong with a value, and where. */
export type Fault = z.core.$ZodIssue;

/** zod keeps to itself what it worked out of a schema, and a list may be looked at page by page. */
const made = new WeakMap<Schema<unknown>, z.ZodMiniType>();

/** The schema as one of zod. */
export function zodOf<T>(schema: Schema<T>): z.ZodMiniType<T> {
  let zod = made.get(schema);
  if (zod === undefined) {
    zod = madeOf(schema);
    made.set(schema, zod);
  }
  return zod as z.ZodMiniType<T>;
}

function madeOf(schema: Schema<unknown>): z.ZodMiniType {
  // Each is put to values of the type that it came with.
  const checks = schema.checks.map(checkOf) as z.core.$ZodCheck<unknown>[];
  const bare = bareOf(schema);
  const checked = checks.length === 0 ? bare : bare.check(...checks);
  const nullable = schema.mayBeNull && schema.kind !== 'unknown' ? z.nullable(checked) : checked;
  return schema.mayMiss ? z.optional(nullable) : nullable;
}

function bareOf(schema: Schema<unknown>): z.ZodMiniType {
  switch (schema.kind) {
    case 'string':
      return z.string();
    case 'number':
      return z.number();
    case 'boolean':
      return z.boolean();
    case 'unknown':
      return z.unknown();
    case 'oneOf':
      return z.literal([...schema.of]);
    case 'array':
      return z.array(zodOf(schema.of));
    case 'tuple':
      return z.tuple(schema.of.map(zodOf) as [z.ZodMiniType]);
    case 'record':
      return z.record(z.string(), zodOf(schema.of));
    case 'loose':
      return z.looseObject(shapeOf(schema.of));
    case 'strict':
      return z.strictObject(shapeOf(schema.of));
  }
}

function shapeOf(fields: Fields): Record<string, z.ZodMiniType> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, zodOf(field)]));
}

function checkOf(check: Check): z.core.$ZodCheck {
  switch (check.rule) {
    case 'int':
      return z.int();
    case 'positive':
      return z.positive();
    case 'gte':
      return z.gte(check.bound);
    case 'lte':
      return z.lte(check.bound);
    case 'minLength':
      return z.minLength(check.bound);
    case 'regex':
      return z.regex(check.pattern, check.error);
    case 'refine': {
      const { error } = check;
      const is = check.is as (value: unknown) => boolean;
      return typeof error === 'function'
        ? z.refine(is, { error: ({ input }) => error(input as string) })
        : z.refine(is, error);
    }
  }
}
