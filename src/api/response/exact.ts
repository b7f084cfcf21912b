/**
 * Matches a number that a double may not hold: many digits, or an exponent. Searches only at the
 * start of a JSON number, since nearly every UUID contains something like `1e`.
 */
const SUSPECT = /[:,[ \n\r\t]-?[0-9](?:(?:\.?[0-9]){15}|(?:\.?[0-9]){0,14}[eE])/;
const IS_NUMBER = /^-?[0-9]/;

/** Matches a quotation mark, an escaped character or a number. */
const TOKENS = /"|\\.|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/g;

/**
 * Parses JSON as JSON.parse does, but keeps a number that would change (an integer beyond 2^53,
 * 1e400) as a string of its digits. Throws what JSON.parse throws.
 */
export function parseExactly(json: string): unknown {
  const value: unknown = JSON.parse(json);
  if (!SUSPECT.test(json) && (json.startsWith('{') || !IS_NUMBER.test(json))) return value;
  let inText = false;
  const exact = json.replace(TOKENS, (token) => {
    if (token === '"') inText = !inText;
    return inText || token === '"' || isExact(token) ? token : `"${token}"`;
  });
  return exact === json ? value : JSON.parse(exact);
}

function isExact(number: string): boolean {
  const held = Number(number);
  return Number.isFinite(held) && decimal(number) === decimal(String(held));
}

/** Normalizes a decimal number: `-125e-1` for -12.5 and -1.250e1. */
function decimal(number: string): string {
  const [, sign = '', whole = '', part = '', power = '0'] =
    /(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?/.exec(number) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/, '');
  const short = withoutZeros(digits);
  if (short === '') return '0';
  return `${sign}${short}e${Number(power) - part.length + digits.length - short.length}`;
}

/** Removes trailing zeros. A regular expression would rescan a long number at each zero. */
function withoutZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}
