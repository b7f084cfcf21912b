// Separate from money.ts, so that recognizing an amount loads no library.

/**
 * Whether a text is a decimal of any length, as amounts of roubles are (API document: Conventions).
 */
export function isMoney(text: string): boolean {
  return kopecksOf(text) !== undefined || /^-?[0-9]{1,400}(\.[0-9]{1,400})?$/.test(text);
}

export type Kopecks = number;

/** Longest amount to count in kopecks: a thousand such amounts are far below 2^53. */
const LONGEST = '99999999999.99'.length;

/** Parses an amount such as `89.90` into kopecks, digit by digit; undefined for any other form. */
export function kopecksOf(text: string): Kopecks | undefined {
  const point = text.length - 3;
  if (point < 1 || text.length > LONGEST || text[point] !== '.') return undefined;
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (at === point) continue;
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return undefined;
    sum = sum * 10 + digit;
  }
  return sum;
}
