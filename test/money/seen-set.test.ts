import { expect, it } from 'vitest';
import { createSeenSet } from '../../src/money/history.ts';
import { fc } from '../support/random.ts';

it('remembers the latest IDs and forgets the oldest', () => {
  for (let back = 0; back < 3; back += 1) {
    const seen = createSeenSet(3);
    for (let at = 1; at <= 100; at += 1) expect(seen.add(`t-${at}`)).toBe(true);
    expect(seen.add(`t-${100 - back}`)).toBe(false);
  }
  const seen = createSeenSet(3);
  for (let at = 1; at <= 100; at += 1) seen.add(`t-${at}`);
  expect(seen.add('t-94')).toBe(true);
});

it('remembers as many IDs as it must, whatever they are', () => {
  const ids = fc.array(fc.oneof(fc.uuid(), fc.string({ maxLength: 4 })), { maxLength: 60 });
  fc.assert(
    fc.property(ids, (given) => {
      const seen = createSeenSet(given.length);
      const all = new Set<string>();
      for (const id of given) {
        expect(seen.add(id)).toBe(!all.has(id));
        all.add(id);
      }
    }),
  );
});
