import type { Fields, Schema } from './schema.ts';

/**
 * Whether a value is of a schema beyond doubt. It spares nearly every value the slow look: zod takes
 * milliseconds to load and makes several objects for each field of each row. What this says yes to,
 * zod says yes to; no means that zod has to look, which also tells what is wrong.
 */
export function isPlain(schema: Schema<unknown>, value: unknown): boolean {
  if (value === undefined) return schema.mayMiss;
  if (value === null) return schema.mayBeNull;
  if (!isOfKind(schema, value)) return false;
  const { checks } = schema;
  for (let at = 0; at < checks.length; at += 1) {
    if (!checks[at]?.is(value as never)) return false;
  }
  return true;
}

function isOfKind(schema: Schema<unknown>, value: unknown): boolean {
  switch (schema.kind) {
    case 'string':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'unknown':
      return true;
    case 'oneOf':
      return schema.of.includes(value as string | number);
    case 'loose':
      return isObject(value) && hasFields(value, schema.of);
    case 'strict':
      return isObject(value) && hasFields(value, schema.of) && hasNoOthers(value, schema.of);
    case 'array':
      return Array.isArray(value) && isEach(value, schema.of);
    case 'tuple':
      return (
        Array.isArray(value) &&
        value.length === schema.of.length &&
        schema.of.every((one, at) => isPlain(one, value[at]))
      );
    case 'record':
      // zod looks at the constructor to tell what is a plain object.
      return (
        isObject(value) && value.constructor === Object && isEach(Object.values(value), schema.of)
      );
  }
}

/** zod leaves out what is named `__proto__`, so that it is no field of what is read. */
function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !Object.hasOwn(value, '__proto__')
  );
}

/** The same for rows, of which there may be a million. */
function areRows(values: readonly unknown[], of: Schema<unknown>, fields: Listed): boolean {
  for (let at = 0; at < values.length; at += 1) {
    const row = values[at];
    if (isObject(row) ? !areFields(row, fields) : !isPlain(of, row)) return false;
  }
  return true;
}

function hasFields(row: Readonly<Record<string, unknown>>, fields: Fields): boolean {
  return areFields(row, listOf(fields));
}

function areFields(row: Readonly<Record<string, unknown>>, { names, schemas }: Listed): boolean {
  for (let at = 0; at < names.length; at += 1) {
    const schema = schemas[at] as Schema<unknown>;
    const value = row[names[at] as string];
    // What most fields of most rows are, without going into the matter.
    if (typeof value === 'string' && schema.kind === 'string' && schema.checks.length === 0)
      continue;
    if (!isPlain(schema, value)) return false;
  }
  return true;
}

interface Listed {
  readonly names: readonly string[];
  readonly schemas: readonly Schema<unknown>[];
}

const listed = new WeakMap<Fields, Listed>();

/** Lists are gone through much faster than the names of an object, once for each row. */
function listOf(fields: Fields): Listed {
  const known = listed.get(fields);
  if (known !== undefined) return known;
  const made = { names: Object.keys(fields), schemas: Object.values(fields) };
  listed.set(fields, made);
  return made;
}

function hasNoOthers(row: object, fields: Fields): boolean {
  return Object.keys(row).every((name) => Object.hasOwn(fields, name));
}

/** A list may have holes, which no method of it would visit. */
function isEach(values: readonly unknown[], of: Schema<unknown>): boolean {
  if (of.kind === 'loose' && of.checks.length === 0) return areRows(values, of, listOf(of.of));
  for (let at = 0; at < values.length; at += 1) {
    if (!isPlain(of, values[at])) return false;
  }
  return true;
}
