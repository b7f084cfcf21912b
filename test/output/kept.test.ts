import { expect, test } from 'vitest';
import { KEPT, Kept } from '../../src/output/kept.ts';

const HALF = 'x'.repeat(KEPT / 2);

test.each([
  ['all that fits', [HALF, HALF], HALF + HALF],
  ['whole chunks at the end', ['a', HALF, HALF, 'b', 'c'], `${HALF}bc`],
  ['a longer last chunk', ['a', `${HALF + HALF}b`], `${HALF + HALF}b`],
])('keeps %s', (_what, chunks, text) => {
  const kept = new Kept();
  for (const chunk of chunks) kept.write(chunk);
  // Compares without a message of megabytes.
  expect(kept.text === text).toBe(true);
});
