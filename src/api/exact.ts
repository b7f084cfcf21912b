/**
 * A number that a double may not hold: many digits, or an exponent. It is looked for only where a
 * number of JSON can begin, since there is `1e` or the like in nearly every UUID.
 */
const SUSPECT = /[:,[ \n\r\t]-?[0-9](?:(?:\.?[0-9]){15}|(?:\.?[0-9]){0,14}[eE])/;
const IS_NUMBER = /^-?[0-9]/;

/** Texts first, so that what stands inside one is never taken for a number. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/g;

/**
 * Reads JSON as JSON.parse does, but for a number that would come out as another one (an integer
 * beyond 2^53, 1e400): that is a text of its digits, as money is, so that nothing is rounded.
 * Throws what JSON.parse throws.
 */
export function parseExactly(json: string): unknown {
  const value: unknown = JSON.parse(json);
  if (!SUSPECT.test(json) && (json.startsWith('{') || !IS_NUMBER.test(json))) return value;
  let changed = false;
  const exact = json.replace(TOKENS, (token) => {
    if (token.startsWith('"') || isExact(token)) return token;
    changed = true;
    return `"${token}"`;
  });
  return changed ? JSON.parse(exact) : value;
}

function isExact(number: string): boolean {
  const held = Number(number);
  return Number.isFinite(held) && decimal(number) === decimal(String(held));
}

/** One text for one decimal number, however it is written: `-125e-1` for -12.5 and -1.250e1. */
function decimal(number: string): string {
  const [, sign = '', whole = '', part = '', power = '0'] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(number) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  if (short === '') return '0';
  return `${sign}${short}e${Number(power) - part.length + digits.length - short.length}`;
}
