import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as apiKey from '../../src/api/schemas/api-key.ts';
import * as billing from '../../src/api/schemas/billing.ts';
import * as drive from '../../src/api/schemas/drive.ts';
import * as envelope from '../../src/api/schemas/envelope.ts';
import * as instance from '../../src/api/schemas/instance.ts';
import * as instanceBody from '../../src/api/schemas/instance-body.ts';
import * as lists from '../../src/api/schemas/lists.ts';
import * as offer from '../../src/api/schemas/offer.ts';
import * as query from '../../src/api/schemas/query.ts';
import * as sshKey from '../../src/api/schemas/ssh-key.ts';
import * as template from '../../src/api/schemas/template.ts';
import * as user from '../../src/api/schemas/user.ts';
import { isPlain } from '../../src/schema/plain.ts';
import {
  array,
  boolean,
  gte,
  int,
  looseObject,
  lte,
  minLength,
  nullable,
  number,
  oneOf,
  optional,
  positive,
  record,
  refine,
  regex,
  type Schema,
  strictObject,
  string,
  tuple,
  unknown,
} from '../../src/schema/schema.ts';
import { zodOf } from '../../src/schema/zod.ts';

// The quick look and zod judge one schema, and have to be of one mind: a value that only the quick
// look lets through would be trusted wrongly, and one that it does not know would be slow.

const texts = fc.constantFrom('', 'x', 'id-1', '../..', 'TCP', 'A_B', 'toString', '1');
const numbers = fc.oneof(
  fc.constantFrom(0, -0, 1.5, 65536, 2 ** 53),
  fc.integer({ min: -2, max: 5 }),
);
/** Names that every object has from its prototype are fields as good as others. */
const names = ['id', 'name', 'status', 'constructor', 'toString', '__proto__', 'hasOwnProperty'];
const odd = fc.oneof(
  { depthSize: 'small' },
  fc.constantFrom(null, undefined, true, [], {}, [null], [undefined], new Array(2)),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY),
  texts,
  numbers,
  fc.jsonValue({ maxDepth: 2 }),
  fc.dictionary(fc.constantFrom(...names), fc.oneof(texts, numbers), { noNullPrototype: false }),
);

/** Values that are of a schema, nearly: in any place there may be what does not belong there. */
function nearly(schema: Schema<unknown>): fc.Arbitrary<unknown> {
  const more: fc.Arbitrary<unknown>[] = [odd];
  if (schema.mayMiss) more.push(fc.constant(undefined));
  if (schema.mayBeNull) more.push(fc.constant(null));
  return fc.oneof({ weight: 40, arbitrary: bare(schema) }, ...more);
}

function bare(schema: Schema<unknown>): fc.Arbitrary<unknown> {
  switch (schema.kind) {
    case 'string':
      return texts;
    case 'number':
      return numbers;
    case 'boolean':
      return fc.boolean();
    case 'unknown':
      return odd;
    case 'oneOf':
      return fc.constantFrom(...schema.of);
    case 'array':
      return fc.array(nearly(schema.of), { maxLength: 3 });
    case 'tuple':
      return fc.tuple(...schema.of.map(nearly));
    case 'record':
      return fc.dictionary(fc.constantFrom(...names), nearly(schema.of));
    default: {
      const fields = Object.entries(schema.of);
      const all = Object.fromEntries(fields.map(([name, field]) => [name, nearly(field)]));
      const requiredKeys = fields.filter(([, field]) => !field.mayMiss).map(([name]) => name);
      const whole = fc.record(all, { requiredKeys });
      return fc.oneof(
        { weight: 6, arbitrary: whole },
        fc.record(all, { requiredKeys: [] }),
        fc.tuple(whole, fc.dictionary(fc.constantFrom(...names), odd)).map(([row, others]) => {
          return { ...row, ...others };
        }),
      );
    }
  }
}

const { schemas } = fc.letrec<{ schemas: Schema<unknown> }>((tie) => {
  const inner = tie('schemas') as fc.Arbitrary<Schema<unknown>>;
  const fields = fc.dictionary(fc.constantFrom('id', 'name', 'status'), inner);
  return {
    schemas: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.constantFrom<Schema<unknown>[]>(
        string(),
        string(regex(/^[A-Z_]+$/, 'in capital letters')),
        string(refine((text) => text !== '', 'not empty')),
        number(),
        number(int(), gte(1), lte(65535)),
        number(positive()),
        boolean(),
        unknown(),
        oneOf('TCP', 'toString'),
        oneOf(1),
      ),
      inner.map((of) => optional(of)),
      inner.map((of) => nullable(of)),
      inner.map((of) => array(of)),
      inner.map((of) => array(of, minLength(1))),
      inner.map((of) => record(of)),
      fc.tuple(inner, inner).map(([one, other]) => tuple(one, other)),
      fields.map((of) => looseObject(of)),
      fields.map((of) => strictObject(of)),
    ),
  };
});

/** Whether the value is plain, which zod has to agree with. */
function agreed(schema: Schema<unknown>, value: unknown): boolean {
  const verdict = zodOf(schema).safeParse(value);
  if (isPlain(schema, value)) {
    // And it is the same that zod gives back.
    expect(verdict).toEqual({ success: true, data: value });
    return true;
  }
  // As it comes from outside. These two names are left to zod wherever they stand.
  const text = JSON.stringify(value) ?? 'null';
  if (/"(?:__proto__|constructor)":/.test(text)) return false;
  const read = JSON.parse(text);
  expect(isPlain(schema, read)).toBe(zodOf(schema).safeParse(read).success);
  return false;
}

test('of any schema it is of one mind with zod', () => {
  const both = schemas.chain((schema) => fc.tuple(fc.constant(schema), nearly(schema)));
  fc.assert(
    fc.property(both, ([schema, value]) => {
      agreed(schema, value);
    }),
    { numRuns: 2000 },
  );
});

const rooms = { apiKey, billing, drive, envelope, instance, instanceBody, lists, offer };
const others = { query, sshKey, template, user };
const known = Object.entries({ ...rooms, ...others }).flatMap(([room, named]) =>
  Object.entries(named).map(([name, schema]): [string, Schema<unknown>] => [
    `${room}: ${name}`,
    schema as Schema<unknown>,
  ]),
);

describe.each(known)('%s', (_name, schema) => {
  test('it is of one mind with zod', () => {
    let plain = 0;
    fc.assert(
      fc.property(nearly(schema), (value) => {
        if (agreed(schema, value)) plain += 1;
      }),
    );
    expect(plain).toBeGreaterThan(0);
  });
});

const described = looseObject({ id: string(), more: optional(unknown()) });

test.each<[string, Schema<unknown>, unknown]>([
  ['an infinite number', number(), Number.POSITIVE_INFINITY],
  ['nothing, where anything is needed', looseObject({ any: unknown() }), {}],
  ['a hole in a list', array(string()), new Array(1)],
  ['a list for an object', described, []],
  ['a field more than a strict object has', strictObject({ a: string() }), { a: '', toString: 1 }],
  ['an object of a class', record(unknown()), new Date(0)],
  ['a name for one of several', oneOf('TCP'), 'toString'],
])('it does not let through %s', (_what, schema, value) => {
  expect(isPlain(schema, value)).toBe(false);
  expect(zodOf(schema).safeParse(value).success).toBe(false);
});

/** What a row has from its prototype would be taken for a field of its own. */
test('no schema has a field that every object has', () => {
  const fieldsOf = ({ kind, of }: Schema<unknown>): string[] => {
    if (kind === 'tuple') return of.flatMap(fieldsOf);
    if (kind === 'array' || kind === 'record') return fieldsOf(of);
    if (kind !== 'loose' && kind !== 'strict') return [];
    return Object.entries(of).flatMap(([name, field]) => [name, ...fieldsOf(field)]);
  };
  const all = known.flatMap(([, schema]) => fieldsOf(schema));
  expect(all.length).toBeGreaterThan(100);
  expect(all.filter((name) => name in Object.prototype)).toEqual([]);
});

test('what zod would leave out is left to zod', () => {
  const value = JSON.parse('{"id":"x","__proto__":{"id":"y"}}');
  expect(isPlain(described, value)).toBe(false);
  expect(zodOf(described).safeParse(value)).toEqual({ success: true, data: { id: 'x' } });
});

test('a schema is made one of zod once', () => {
  expect(zodOf(described)).toBe(zodOf(described));
});
