import { expect, test } from 'vitest';
import { paintFor, RED_ERROR, YELLOW_WARNING } from '../../src/output/colour.ts';

test.each([
  ['green', '32', '39'],
  ['yellow', '33', '39'],
  ['red', '31', '39'],
  ['cyan', '36', '39'],
  ['dim', '2', '22'],
  ['bold', '1', '22'],
] as const)("uses the terminal theme's colour for %s", async (name, begin, end) => {
  expect((await paintFor(true))(name, 'x')).toBe(`\u001b[${begin}mx\u001b[${end}m`);
  expect((await paintFor(false))(name, 'x')).toBe('x');
});

test('colours "warning:" yellow and "error:" bold red', async () => {
  const paint = await paintFor(true);
  expect(YELLOW_WARNING).toBe(paint('yellow', 'warning:'));
  expect(RED_ERROR).toBe('\u001b[1;31merror:\u001b[22;39m');
});
