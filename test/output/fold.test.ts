import { expect, test } from 'vitest';
import { fold } from '../../src/output/live/live.ts';
import { width } from '../../src/output/width.ts';
import { fc } from '../support/random.ts';

const bare = (text: string) => text.replace(/\u001b\[[0-9;]*m/g, '');

test('keeps a line that fits into the width', () => {
  expect(fold('\u001b[1mNAME\u001b[22m', 4)).toEqual(['\u001b[1mNAME\u001b[22m']);
  expect(fold('', 4)).toEqual(['']);
});

test('continues a colour on the next line', () => {
  expect(fold('ab\u001b[32mcdef\u001b[39mg', 4)).toEqual([
    'ab\u001b[32mcd\u001b[39m',
    '\u001b[32mef\u001b[39mg',
  ]);
});

test('breaks a line between words if possible', () => {
  expect(fold('Nothing was changed.', 12)).toEqual(['Nothing was ', 'changed.']);
  expect(fold('a machine-with-a-long-name', 8)).toEqual(['a ', 'machine-', 'with-a-l', 'ong-name']);
  expect(fold('\u001b[31mout of reach\u001b[39m', 8)).toEqual([
    '\u001b[31mout of \u001b[39m',
    '\u001b[31mreach\u001b[39m',
  ]);
});

test('never cuts a wide character', () => {
  expect(fold('漢字漢字', 3)).toEqual(['漢', '字', '漢', '字']);
});

test('keeps all text, and limits each line to the width', () => {
  const painted = fc.array(
    fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'b', ' ', '₽', '漢', '字') }),
      fc.constantFrom('\u001b[32m', '\u001b[39m', '\u001b[1m', '\u001b[22m'),
    ),
  );
  fc.assert(
    fc.property(painted, fc.integer({ min: 2, max: 12 }), (parts, cells) => {
      const line = parts.join('');
      const folded = fold(line, cells).map(bare);
      expect(folded.join('')).toBe(bare(line));
      for (const one of folded) expect(width(one)).toBeLessThanOrEqual(cells);
    }),
  );
});
