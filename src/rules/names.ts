import { broken, kept, type Verdict } from './rule.ts';

/**
 * Checks `instance_name` (API document: Limits). Only the service can check that the name is
 * unique.
 */
export function instanceName(text: string): Verdict<string> {
  return /^[A-Za-z][A-Za-z0-9-]{1,48}[A-Za-z0-9]$/.test(text)
    ? kept(text)
    : broken(
        'must be 3 to 50 letters (a-z), digits or hyphens, start with a letter and not end with a hyphen',
      );
}

/**
 * Checks the name of a new instance. Rejects a UUID: a command could not tell it from the ID of
 * another instance.
 */
export function newInstanceName(text: string): Verdict<string> {
  const verdict = instanceName(text);
  return verdict.ok ? notAnId(text) : verdict;
}

/** Checks `new_name` of a reorder without the naming rule, which the document has only for create. */
export function anyNewInstanceName(text: string): Verdict<string> {
  const verdict = anyName(text);
  return verdict.ok ? notAnId(text) : verdict;
}

function notAnId(text: string): Verdict<string> {
  return isUuid(text.trim()) ? broken('must not look like an ID') : kept(text);
}

/**
 * Returns the word for an instance in a command. This is its name if the name is one plain word no
 * longer than a UUID and not itself a UUID, otherwise its ID.
 */
export function typedName(name: string | null | undefined, id: string): string {
  return name != null && newInstanceName(name).ok && name.length <= 36 ? name : id;
}

/** Whether two texts may name the same instance. */
export function isSameName(one: string, other: string): boolean {
  return nameKey(one) === nameKey(other);
}

/**
 * Normalizes an instance's name. Ignores case: the document doesn't mention it, and host names
 * ignore it.
 */
export function nameKey(name: string): string {
  return name.trim().toLowerCase();
}

/**
 * Checks `name` of an API key (API document: Limits): at most 50 characters, and required, so not
 * empty.
 */
export function apiKeyName(text: string): Verdict<string> {
  if (text.trim() === '') return broken('must not be empty');
  if ([...text].length > 50) return broken('must have at most 50 characters');
  return kept(text);
}

/** Checks a required name for which the document has no other rule (drives, SSH keys, profile). */
export function anyName(text: string): Verdict<string> {
  return text.trim() === '' ? broken('must not be empty') : kept(text);
}

/** Checks a promo code. The document describes no format, so keeps the case unchanged. */
export function promoCode(text: string): Verdict<string> {
  return text.trim() === '' ? broken('must not be empty') : kept(text.trim());
}

/**
 * Checks that an ID is safe in a request path.
 *
 * The document calls IDs strings, and instance IDs UUIDs. Allows only letters, digits, `.`, `_`,
 * `-` and `~`. Rejects a first character that could make the segment `.` or `..`:
 * `encodeURIComponent` leaves those unchanged, and the path would collapse.
 */
export function resourceId(text: string): Verdict<string> {
  return /^[A-Za-z0-9_][A-Za-z0-9._~-]{0,199}$/.test(text)
    ? kept(text)
    : broken(
        'must have at most 200 letters, digits, ".", "_", "~" and "-", and not start with ".", "~" or "-"',
      );
}

/** Whether a text has the shape of a UUID, as instance IDs have (API document: Instance). */
export function isUuid(text: string): boolean {
  return /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/.test(text);
}

/** Normalizes the spelling of an ID: case has no meaning in a UUID, but may have in another ID. */
export function idKey(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id;
}

export function isSameId(one: string, other: string): boolean {
  return idKey(one) === idKey(other);
}

/** Shortest accepted beginning of an ID. */
const SHORTEST_BEGINNING = 4;

/** Whether a text may stand for an ID that starts with it: a table may show only the start. */
export function isBeginning(text: string, id: string): boolean {
  return text.length >= SHORTEST_BEGINNING && id.toLowerCase().startsWith(text.toLowerCase());
}

export function instanceId(text: string): Verdict<string> {
  return isUuid(text) ? kept(idKey(text)) : broken('must be a UUID');
}
