import { endOfText } from './json-texts.ts';

/**
 * How many lists and objects of an answer may stand within each other. The documented ones have some
 * six levels. The look at their fields, the masking of secrets and the writers of JSON and YAML call
 * themselves for each level, and the stack of Node, on which they do so, ends at some 1,500.
 */
export const DEEPEST = 500;

const QUOTE = 0x22;

/** Whether a text that is whole JSON is nested more than {@link DEEPEST} levels deep. */
export function isTooDeep(json: string): boolean {
  if (!hasBrackets(json, DEEPEST)) return false;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json.charCodeAt(at);
    // Either bracket is 0x20 apart from the other, as letters are: [ and {, ] and }.
    if (sign === QUOTE) {
      at = endOfText(json, at);
    } else if ((sign | 0x20) === 0x7b) {
      depth += 1;
      if (depth > DEEPEST) return true;
    } else if ((sign | 0x20) === 0x7d) {
      depth -= 1;
    }
  }
  return false;
}

/**
 * The same of a value of JSON. Where there is one this is quicker by far: V8 knows the fields of like
 * rows, and texts are passed by whole.
 */
export function isValueTooDeep(value: unknown, levels = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) {
      const item: unknown = value[at];
      if (typeof item === 'object' && isValueTooDeep(item, levels - 1)) return true;
    }
    return false;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name in fields) {
    const field = fields[name];
    if (typeof field === 'object' && isValueTooDeep(field, levels - 1)) return true;
  }
  return false;
}

/** Nearly every answer has fewer, and is not looked through by its characters. */
function hasBrackets(json: string, most: number): boolean {
  if (json.length <= most) return false;
  let left = most;
  for (const bracket of '[{') {
    for (let at = json.indexOf(bracket); at >= 0; at = json.indexOf(bracket, at + 1)) {
      left -= 1;
      if (left < 0) return true;
    }
  }
  return false;
}

/** Completes "the answer could not be understood: it …". */
export const TOO_DEEP = `is nested more than ${DEEPEST} levels deep`;
