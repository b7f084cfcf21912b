import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { drive } from '../../src/api/schemas/drive.ts';
import { instance } from '../../src/api/schemas/instance.ts';
import { sshKeys, transactions } from '../../src/api/schemas/lists.ts';
import { plainly } from '../../src/api/schemas/plainly.ts';
import { machine } from './harness.ts';

const transaction = {
  id: '00000000-0000-4000-8000-000000000001',
  type: 'DEPOSIT',
  status: 'COMPLETED',
  amount: '89.90',
  direction: 'INCOMING',
  description: null,
  created_at: '2026-03-01T12:00:00.000Z',
  more: { of: ['anything'] },
};

test('what is as documented is seen at a glance', () => {
  expect(plainly(transactions)([transaction, { id: 'x' }])).toBe(true);
  expect(plainly(transactions)([])).toBe(true);
  expect(plainly(instance)(machine('ACTIVE'))).toBe(true);
});

/** Any value where the document has another, and rows of a few fields. */
const odd = fc.oneof(
  fc.constantFrom(null, undefined, '', '../..', 'x', 0, Number.NaN, true, [], {}, [null]),
  fc.jsonValue({ maxDepth: 2 }),
);
const names = ['id', 'status', 'type', 'amount', 'name', 'size_gb', 'is_default', 'ssh_keys'];
const row = fc.oneof(
  fc.dictionary(fc.constantFrom(...names), odd),
  fc.dictionary(fc.constantFrom(...names), odd).map((fields) => ({ ...transaction, ...fields })),
);

describe.each([
  ['transactions', transactions, fc.array(row, { maxLength: 3 })],
  ['ssh-keys', sshKeys, fc.array(row, { maxLength: 3 })],
  ['a drive', drive, row],
  ['an instance', instance, row],
])('%s', (_name, schema, values) => {
  test('never says yes where zod says no', () => {
    fc.assert(
      fc.property(fc.oneof(values, odd), (value) => {
        if (plainly(schema)(value)) expect(schema.safeParse(value).success).toBe(true);
      }),
    );
  });
});

test.each([
  ['a strict object', z.strictObject({ a: z.optional(z.string()) }), { a: 'x' }],
  ['a rule of zod', z.string().check(z.minLength(1)), 'x'],
  ['a union', z.union([z.string(), z.number()]), 'x'],
  ['a default', z._default(z.string(), 'x'), undefined],
])('of %s it knows nothing', (_name, schema, value) => {
  expect(schema.safeParse(value).success).toBe(true);
  expect(plainly(schema)(value)).toBe(false);
});
