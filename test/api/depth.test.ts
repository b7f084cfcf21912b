import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEEPEST, isTooDeep } from '../../src/api/depth.ts';

const nested = (levels: number, open = '[', close = ']') =>
  `${open.repeat(levels)}1${close.repeat(levels)}`;

/** The same by the value itself, level by level. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('an answer is too deep', () => {
  test.each([
    ['lists', nested(DEEPEST), nested(DEEPEST + 1)],
    ['objects', nested(DEEPEST, '{"a":', '}'), nested(DEEPEST + 1, '{"a":', '}')],
    [
      'both, with spaces',
      nested(DEEPEST / 2, '[ {"a":\n', '}\n]'),
      nested(DEEPEST, '[{"a":', '}]'),
    ],
    [
      'behind much that is flat',
      `[${'{"a":[]},'.repeat(DEEPEST)}${nested(DEEPEST - 1)}]`,
      `[${'{"a":[]},'.repeat(DEEPEST)}${nested(DEEPEST)}]`,
    ],
  ])('by one level: %s', (_name, within, beyond) => {
    expect([within, beyond].map(isTooDeep)).toEqual([false, true]);
    expect(() => [within, beyond].map((text) => JSON.parse(text))).not.toThrow();
  });

  test('never for brackets inside its texts', () => {
    const brackets = '[{'.repeat(DEEPEST);
    for (const text of [brackets, `\\"${brackets}`, `${brackets}\\\\`]) {
      expect(isTooDeep(`{"a":"${text}","${text}":[]}`)).toBe(false);
    }
  });

  test('as its value is', () => {
    const piece = fc.constantFrom('[', '{', '"', '\\', '\\"', ']', '}', 'a');
    const texts = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(texts, fc.integer({ min: DEEPEST - 3, max: DEEPEST + 3 }), (text, levels) => {
        const value = JSON.stringify({ [text]: [text] });
        const json = nested(levels, `[${value},`, ']').replace('1]', `${value}]`);
        expect(isTooDeep(json)).toBe(depthOf(JSON.parse(json)) > DEEPEST);
      }),
      { numRuns: 100 },
    );
  });
});
