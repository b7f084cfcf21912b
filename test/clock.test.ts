import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isoTime } from '../src/clock.ts';

it('writes a time as a Date does, in any year that a Date knows', () => {
  const times = fc.oneof(
    fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 }),
    fc.integer({ min: 0, max: 4_000_000_000_000 }),
    fc.double({ min: -1e14, max: 1e14, noNaN: true }),
  );
  fc.assert(
    fc.property(times, (time) => {
      expect(isoTime(time)).toBe(new Date(time).toISOString());
    }),
    { numRuns: 2000 },
  );
});

it('throws for what is no time, as a Date does', () => {
  expect(() => isoTime(Number.NaN)).toThrow(RangeError);
  expect(() => isoTime(8_640_000_000_000_001)).toThrow(RangeError);
});
