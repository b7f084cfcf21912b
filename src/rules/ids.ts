import { broken, kept, type Verdict } from './rule.ts';

/**
 * An id that may stand in a path of a request.
 *
 * The document calls ids strings, and those of instances UUIDs; nothing wider than letters, digits,
 * `.`, `_`, `-` and `~` is let through, and never a first character that could make the segment
 * `.` or `..`, since `encodeURIComponent` leaves those as they are and the path would collapse.
 */
export function resourceId(text: string): Verdict<string> {
  if (text === '') return broken('an id is not empty');
  if (text.length > 200) return broken('an id is at most 200 characters long');
  if (!/^[A-Za-z0-9_][A-Za-z0-9._~-]*$/.test(text)) {
    return broken(
      'an id holds letters, digits, ".", "_", "~" and "-" only, and starts with none of ".~-"',
    );
  }
  return kept(text);
}

/** Whether a text has the shape of a UUID, which the ids of instances have (spec: Instance). */
export function isUuid(text: string): boolean {
  return /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/.test(text);
}
