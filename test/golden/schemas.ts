import type { z } from 'zod';
import { object, registry, toJSONSchema } from 'zod/mini';
import { TIME } from '../../src/json-results/fields.ts';
import { RESULTS, SHAPES } from '../../src/json-results/index.ts';

/** The content of schemas/results.json. */
export interface ResultsFile {
  /** Each command's result, as a `$ref` to its part. */
  readonly properties: Readonly<Record<string, { readonly $ref: string }>>;
  readonly $defs: Readonly<Record<string, JsonSchema>>;
}

/** Returns the JSON Schema (2020-12) of all results, which new versions may extend. */
export function resultsJsonSchema(): ResultsFile {
  const parts = Object.fromEntries([
    ...Object.entries(SHAPES).map(([name, shape]) => [name, shape()] as const),
    ...Object.values(RESULTS).map(({ name, schema }) => [name, schema()] as const),
  ]);
  const names = registry<{ id: string }>();
  for (const [id, part] of Object.entries(parts)) names.add(part, { id });
  const { $schema, $defs = {} } = toJSONSchema(object(parts), {
    io: 'input',
    metadata: names,
    override({ jsonSchema }) {
      delete jsonSchema.id;
      if (jsonSchema.pattern !== TIME.source) return;
      delete jsonSchema.pattern;
      jsonSchema.format = 'date-time';
    },
  });
  return JSON.parse(
    JSON.stringify({
      $schema,
      title: 'The JSON of each gpucloud command',
      description: 'Each property is a command, with the part of $defs that describes its JSON.',
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(RESULTS).map(([command, { name }]) => [command, refTo(name)]),
      ),
      $defs: Object.fromEntries(Object.entries($defs).sort(([a], [b]) => (a < b ? -1 : 1))),
    }),
  );
}

function refTo(name: string) {
  return { $ref: `#/$defs/${name}` };
}

/** Returns a part of the file as a schema of its own, without references. */
export function partOf({ $defs }: ResultsFile, { $ref }: { readonly $ref: string }): JsonSchema {
  const part = $defs[$ref.replace('#/$defs/', '')];
  if (part === undefined) throw new Error(`schemas/results.json has no ${$ref}`);
  return JSON.parse(JSON.stringify(part), (_name, value) =>
    typeof value?.$ref === 'string' ? partOf({ $defs, properties: {} }, value) : value,
  );
}

/** The part of JSON Schema that results use. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly additionalProperties?: JsonSchema | boolean;
}

/**
 * Returns the fields that break a script for the old schema: missing, newly optional, or of another
 * type.
 */
export function lost(before: JsonSchema, now: JsonSchema, path = 'result'): string[] {
  const [old, current] = [typesOf(before), typesOf(now)];
  const strange = old.length === 0 ? [] : current.filter((type) => !old.includes(type));
  const required = now.required ?? [];
  return [
    ...(strange.length === 0 ? [] : [`${path} may be ${strange.join(' or ')}`]),
    ...Object.entries(before.properties ?? {}).flatMap(([name, field]) => {
      const at = `${path}.${name}`;
      const next = now.properties?.[name];
      if (next === undefined) return [`${at} is gone`];
      const isOptional = before.required?.includes(name) === true && !required.includes(name);
      return [...(isOptional ? [`${at} may be missing`] : []), ...lost(field, next, at)];
    }),
    ...(before.items === undefined ? [] : lost(before.items, now.items ?? {}, `${path}[]`)),
    ...(before.anyOf ?? []).flatMap((form, at) => {
      const next = now.anyOf?.[at];
      return next === undefined ? [`${path}: form ${at + 1} is gone`] : lost(form, next, path);
    }),
  ];
}

function typesOf({ type, anyOf = [] }: JsonSchema): string[] {
  return [...(type === undefined ? [] : [type].flat()), ...anyOf.flatMap(typesOf)];
}

/** Forbids additional properties in gpucloud's own objects. */
export function strict(schema: object): Parameters<typeof z.fromJSONSchema>[0] {
  return JSON.parse(JSON.stringify(schema), (_name, value) =>
    value?.properties !== undefined && value.additionalProperties === undefined
      ? { ...value, additionalProperties: false }
      : value,
  );
}

/** Formats JSON with short objects and lists on one line. */
export function pretty(value: unknown, indent = ''): string {
  const short = JSON.stringify(value, null, 1).replace(/\n */g, ' ');
  if (typeof value !== 'object' || value === null || short.length + indent.length < 90)
    return short;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const parts = Object.entries(value).map(([name, part]) => {
    const label = Array.isArray(value) ? '' : `${JSON.stringify(name)}: `;
    return `${inner}${label}${pretty(part, inner)}`;
  });
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}
