import { describe, expect, test } from 'vitest';
import { paintFor, TONES } from '../../src/output/colour.ts';

/** Red, green and blue of one of the fixed colours 16 to 231: a cube of six steps. */
function rgb(code: number): readonly number[] {
  const steps = [0, 95, 135, 175, 215, 255];
  const at = code - 16;
  return [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((step) => steps[step] ?? 0);
}

/** Relative luminance (WCAG 2). */
function luminance(code: number): number {
  const [r = 0, g = 0, b = 0] = rgb(code).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

describe('colours can be read on white and on black', () => {
  test.each(Object.entries(TONES))('%s', (_name, code) => {
    const shade = luminance(code);
    expect(1.05 / (shade + 0.05)).toBeGreaterThan(3.9);
    expect((shade + 0.05) / 0.05).toBeGreaterThan(3.8);
  });

  test.each(['green', 'yellow', 'red', 'cyan', 'dim', 'bold'] as const)(
    '%s is none of the sixteen that each terminal has its own way with',
    async (name) => {
      const painted = (await paintFor(true))(name, 'x');
      expect(painted).not.toMatch(/\u001b\[(3[0-7]|9[0-7]|4\d|10\d)m/);
      expect(painted).not.toBe('x');
    },
  );
});
