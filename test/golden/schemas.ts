import type { z } from 'zod';
import { toJSONSchema } from 'zod/mini';
import { TIME } from '../../src/results/fields.ts';
import { RESULTS } from '../../src/results/index.ts';

/** Returns the JSON Schema (2020-12) of a command's result, which new versions may extend. */
export function resultJsonSchema(command: string): JsonSchema {
  const schema = RESULTS[command];
  if (schema === undefined) throw new Error(`no result of ${command}`);
  const { $schema, ...rest } = toJSONSchema(schema(), {
    io: 'input',
    override({ jsonSchema }) {
      if (jsonSchema.pattern !== TIME.source) return;
      delete jsonSchema.pattern;
      jsonSchema.format = 'date-time';
    },
  });
  return JSON.parse(
    JSON.stringify({ $schema, title: `The JSON of "gpucloud ${command}"`, ...rest }),
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
export function strict(schema: JsonSchema): Parameters<typeof z.fromJSONSchema>[0] {
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
