import { describe, expect, test } from 'vitest';
import { DEEPEST, isTooDeep } from '../../src/api/response/envelope.ts';

const nested = (levels: number, open = '[', close = ']') =>
  `${open.repeat(levels)}1${close.repeat(levels)}`;

describe('isTooDeep', () => {
  test.each([
    ['lists', nested(DEEPEST), nested(DEEPEST + 1)],
    ['objects', nested(DEEPEST, '{"a":', '}'), nested(DEEPEST + 1, '{"a":', '}')],
    [
      'both, with spaces',
      nested(DEEPEST / 2, '[ {"a":\n', '}\n]'),
      nested(DEEPEST, '[{"a":', '}]'),
    ],
    [
      'after many flat objects',
      `[${'{"a":[]},'.repeat(DEEPEST)}${nested(DEEPEST - 1)}]`,
      `[${'{"a":[]},'.repeat(DEEPEST)}${nested(DEEPEST)}]`,
    ],
  ])('finds a response nested one level too deep: %s', (_name, within, beyond) => {
    const values = [within, beyond].map((text) => JSON.parse(text));
    expect(values.map((value) => isTooDeep(value))).toEqual([false, true]);
  });

  test('does not count brackets inside strings as nesting', () => {
    const brackets = '[{'.repeat(DEEPEST);
    for (const text of [brackets, `\\"${brackets}`, `${brackets}\\\\`]) {
      const json = `{"a":"${text}","${text}":[]}`;
      expect(isTooDeep(JSON.parse(json))).toBe(false);
    }
  });

  test('finds deep nesting under __proto__ and constructor', () => {
    for (const name of ['__proto__', 'constructor']) {
      const value = JSON.parse(`{"${name}":${nested(DEEPEST)}}`);
      expect(isTooDeep(value)).toBe(true);
    }
  });
});
