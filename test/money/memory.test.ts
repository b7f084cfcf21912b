import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemory } from '../../src/money/memory.ts';

const uuid = (at: number) => `${at.toString(16).padStart(8, '0')}-0000-4000-8000-00000000000f`;

describe.each([
  ['texts', (at: number) => `t-${at}`],
  ['UUIDs', uuid],
  ['both', (at: number) => (at % 3 === 0 ? `t-${at}` : uuid(at))],
])('%s', (_name, id) => {
  it('remembers the last ones and forgets those long past', () => {
    for (let back = 0; back < 3; back += 1) {
      const memory = createMemory(3);
      for (let at = 1; at <= 100; at += 1) expect(memory.isNew(id(at))).toBe(true);
      expect(memory.isNew(id(100 - back))).toBe(false);
    }
    const memory = createMemory(3);
    for (let at = 1; at <= 100; at += 1) memory.isNew(id(at));
    expect(memory.isNew(id(94))).toBe(true);
  });
});

it('takes nothing for another: each spelling is an id of its own', () => {
  const alike = [
    '00000000-0000-0000-0000-000000000000',
    '00000000-0000-0000-0000-00000000000a',
    '00000000-0000-0000-0000-00000000000A',
    '00000000-0000-0000-0000-0000000000:0',
    '00000000-0000-0000-0000-0000000000-0',
    '00000000-0000-0000-0000-0000000000/0',
    '00000000-0000-0000-0000-0000000000g0',
    '00000000-0000-0000-0000-0000000000\u01300',
    '0000000000000000000000000000000a',
    '00000000-0000-0000-00000-00000000000',
    'a0000000-0000-0000-0000-000000000000',
    // Of the length of a UUID, but nothing that has a byte for each character, or looks like no id.
    '\u0000'.repeat(36),
    `${'\u0000'.repeat(35)}a`,
    'a'.repeat(36),
    '\u0161'.repeat(36),
    `${'a'.repeat(35)}\u0161`,
    // One more than a UUID has: the first of them alone tell nothing.
    'a'.repeat(37),
    `${'a'.repeat(36)}b`,
    '\ud800'.repeat(36),
    '\ufffd'.repeat(36),
    '',
  ];
  const memory = createMemory(100);
  for (const id of alike) expect(memory.isNew(id)).toBe(true);
  for (const id of alike) expect(memory.isNew(id)).toBe(false);
});

it('knows as many as it is to, whatever they are', () => {
  const ids = fc.array(fc.oneof(fc.uuid(), fc.string({ maxLength: 4 }), fc.nat(9).map(uuid)), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(ids, (given) => {
      const memory = createMemory(given.length);
      const all = new Set<string>();
      for (const id of given) {
        expect(memory.isNew(id)).toBe(!all.has(id));
        all.add(id);
      }
    }),
  );
});
