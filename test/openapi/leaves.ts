import { type Schema, schemaOf } from './description.ts';

export type Path = readonly (string | number)[];

/** A field of the description that has no documented fields inside. */
export interface Leaf {
  /** The path as text: `offer.gpu_model.name`, `ssh_keys[].name`. */
  readonly name: string;
  readonly path: Path;
  /** The document calls an open field "json": an object or list with undocumented contents. */
  readonly type: 'string' | 'number' | 'boolean' | 'open';
  /** The documented values of an enum. */
  readonly words?: readonly string[];
}

/** Returns every leaf below a schema; for a list, the leaves of its first item. */
export function leavesOf(named: string | Schema, name = '', path: Path = []): Leaf[] {
  const schema = schemaOf(named);
  if (schema.type === 'object' && schema.properties !== undefined) {
    return Object.entries(schema.properties).flatMap(([field, inner]) =>
      leavesOf(inner, name === '' ? field : `${name}.${field}`, [...path, field]),
    );
  }
  if (schema.type === 'array' && schema.items !== undefined) {
    return leavesOf(schema.items, `${name}[]`, [...path, 0]);
  }
  const { type } = schema;
  return [
    {
      name,
      path,
      type: type === 'string' || type === 'number' || type === 'boolean' ? type : 'open',
      ...(schema.enum === undefined ? {} : { words: schema.enum }),
    },
  ];
}

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (here, step) =>
      typeof here === 'object' && here !== null ? Reflect.get(here, step) : undefined,
    value,
  );
}

/** Returns a copy with another value at the path. */
export function withValue<T>(value: T, path: Path, other: unknown): T {
  const copy = structuredClone(value);
  const last = path.at(-1);
  const parent = valueAt(copy, path.slice(0, -1));
  if (last === undefined || typeof parent !== 'object' || parent === null) {
    throw new Error(`there is nothing at ${path.join('.')}`);
  }
  Reflect.set(parent, last, other);
  return copy;
}
