import { describe, expect, test } from 'vitest';
import { matching, rowsOf } from '../../src/prompts/prompts.ts';
import { shown, titleOf } from '../../src/prompts/words.ts';

const offer = (name: string, ...about: string[]) => ({ name, about, value: undefined });

describe('a list with one very long row', () => {
  const CHOICES = [
    offer('RTX 4090', '89.90 ₽/h on 2026-01-15', 'ru-1', 'Ada'),
    offer('monster', '9'.repeat(33), 'r'.repeat(3000), 'g'.repeat(32)),
    offer('A100', '189.90 ₽/h on 2026-01-15', 'ru-2', ''),
    { name: `Another, by its id${'.'.repeat(40)}`, value: undefined },
  ];
  const [long, wide, wider] = [`${'9'.repeat(31)}…`, `${'r'.repeat(31)}…`, 'g'.repeat(32)];

  test('aligns the columns, and cuts a cell to 32 cells', () => {
    expect(rowsOf(CHOICES, 120)).toEqual([
      `RTX 4090  ${'89.90 ₽/h on 2026-01-15'.padEnd(34)}${'ru-1'.padEnd(34)}Ada`,
      `monster   ${long}  ${wide}  ${wider}`,
      `A100      ${'189.90 ₽/h on 2026-01-15'.padEnd(34)}ru-2`,
      `Another, by its id${'.'.repeat(40)}`,
    ]);
  });

  test('adds no column of its own for texts that all are empty', () => {
    expect(rowsOf([offer('a', '', 'x'), offer('bc', '', '')], 20)).toEqual(['a     x', 'bc']);
  });

  test('limits every row to the width', () => {
    expect(rowsOf(CHOICES, 44)).toEqual([
      'RTX 4090  89.90 ₽/h on 2026-01-15          …',
      `monster   ${long} …`,
      'A100      189.90 ₽/h on 2026-01-15         …',
      `Another, by its id${'.'.repeat(25)}…`,
    ]);
  });
});

test.each([
  ['x'.repeat(80), 'x'.repeat(80)],
  [`a ${'x'.repeat(81)} b`, `a ${'x'.repeat(79)}… b`],
  ['\u001b[2Ja\u202eb', 'ab'],
])('shows the text %j as %j', (text, expected) => {
  expect(shown(text)).toBe(expected);
});

test.each([
  [null, 'id-1'],
  [undefined, 'id-1'],
  [' \u202e', 'id-1'],
  ['box', 'box'],
])('titles a resource with the name %j %j', (name, title) => {
  expect(titleOf(name, 'id-1')).toBe(title);
});

test.each([
  ['', true],
  [' RTX  24 ', true],
  ['24 rtx', true],
  ['rtx 48', false],
])('searches a line for each word of %j: %s', (term, found) => {
  expect(matching(term)('RTX 4090, 24 GB')).toBe(found);
});
