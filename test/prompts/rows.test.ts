import { describe, expect, test } from 'vitest';
import { rowsOf } from '../../src/prompts/prompts.ts';

const offer = (name: string, ...about: string[]) => ({ name, about, value: undefined });

describe('a list with one very long row', () => {
  test('aligns the other rows beside a very long one, and limits every row to the width', () => {
    const rows = rowsOf(
      [
        offer('RTX 4090', '89.90 ₽/h on 2026-01-15', 'ru-1', 'Ada'),
        offer('monster', '9'.repeat(400), 'r'.repeat(3000), 'g'.repeat(3000)),
        offer('A100', '189.90 ₽/h on 2026-01-15', 'ru-2', ''),
        { name: 'Another, by its id', value: undefined },
      ],
      78,
    );
    expect(rows[0]).toMatch(/^RTX 4090 +89\.90 ₽\/h on 2026-01-15 +ru-1/);
    expect(rows[2]).toMatch(/^A100 +189\.90 ₽\/h on 2026-01-15 +ru-2/);
    expect(rows.filter((row) => row.length > 78)).toEqual([]);
  });
});
