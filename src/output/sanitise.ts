import { clean, loneSurrogates, SUSPECT, sequences, unseen } from '../rules/clean.ts';

const SUSPECT_IN_LINES = /[^\n -~]/;

/**
 * Cleans a text of several lines (a readme): keeps line breaks, and turns a tab into four spaces.
 */
export function cleanLines(text: string): string {
  if (!SUSPECT_IN_LINES.test(text)) return text;
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => clean(line.replaceAll('\t', '    ')))
    .join('\n');
}

/** Cleans text for csv and tsv. Keeps tabs and line breaks, since both formats can write them. */
export function cleanData(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return text
    .replace(sequences(), '')
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(unseen(), (found) => (found === '\n' || found === '\t' ? found : ''))
    .replace(loneSurrogates(), '\ufffd');
}

/**
 * Returns JSON text with the same data and no raw control characters: characters that JSON allows
 * (DEL, C1, bidi, zero-width) become `\uXXXX`. A lone surrogate, which makes jq reject the whole
 * text, becomes U+FFFD.
 */
export function escapeUnseen(json: string): string {
  const whole = json.includes('\\u') && /\\u[dD]/.test(json) ? withoutHalves(json) : json;
  if (!SUSPECT_IN_LINES.test(whole)) return whole;
  return whole.replace(unseen(), (found) =>
    found === '\n' ? found : Array.from(found.split(''), escaped).join(''),
  );
}

/** Replaces lone surrogates with U+FFFD, since no reader accepts them. */
export function wholeCharacters(text: string): string {
  return text.replace(loneSurrogates(), '\ufffd');
}

/** Match escapes one by one, so that `\\\\ud800` stays unchanged. */
function withoutHalves(json: string): string {
  return json.replace(
    /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\./g,
    (found) => (/^\\u[dD].{3}$/.test(found) ? '\\ufffd' : found),
  );
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Returns true if {@link clean} would change the text. */
export function hasUnseen(text: string): boolean {
  return clean(text) !== text;
}
