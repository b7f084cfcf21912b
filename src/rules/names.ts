import { broken, kept, type Verdict } from './rule.ts';

/**
 * `instance_name` (spec: Limits): 3 to 50 characters; Latin letters, digits and hyphen; starts with
 * a letter; does not end with a hyphen. Uniqueness is the service's to judge.
 */
export function instanceName(text: string): Verdict<string> {
  if (text.length < 3 || text.length > 50) {
    return broken('an instance name is 3 to 50 characters long');
  }
  if (!/^[A-Za-z0-9-]+$/.test(text)) {
    return broken('an instance name holds Latin letters, digits and hyphens only');
  }
  if (!/^[A-Za-z]/.test(text)) return broken('an instance name starts with a letter');
  if (text.endsWith('-')) return broken('an instance name does not end with a hyphen');
  return kept(text);
}

/** What to type in a command: the name if it is one plain word no longer than a UUID, else the id. */
export function typedName(name: string | null | undefined, id: string): string {
  return name != null && instanceName(name).ok && name.length <= 36 ? name : id;
}

/**
 * Whether two texts may be the name of one instance: whether the service keeps the case of names is
 * not documented, and hosts have none.
 */
export function isSameName(one: string, other: string): boolean {
  return folded(one) === folded(other);
}

function folded(name: string): string {
  return name.trim().toLowerCase();
}

/** `name` of an API key (spec: Limits): at most 50 characters, and required, so not empty. */
export function apiKeyName(text: string): Verdict<string> {
  if (text.trim() === '') return broken('must not be empty');
  if ([...text].length > 50) return broken('an API key name is at most 50 characters long');
  return kept(text);
}

/** A required name for which the document gives no further rule (drives, SSH keys, profile). */
export function anyName(text: string): Verdict<string> {
  return text.trim() === '' ? broken('must not be empty') : kept(text);
}

/** The document gives no form of a promo code, so its letters stay as they are. */
export function promoCode(text: string): Verdict<string> {
  return text.trim() === '' ? broken('must not be empty') : kept(text.trim());
}

/**
 * An id that may stand in a path of a request.
 *
 * The document calls ids strings, and those of instances UUIDs; nothing wider than letters, digits,
 * `.`, `_`, `-` and `~` is let through, and never a first character that could make the segment
 * `.` or `..`, since `encodeURIComponent` leaves those as they are and the path would collapse.
 */
export function resourceId(text: string): Verdict<string> {
  if (text === '') return broken('must not be empty');
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

/** The id of an instance, as a person types it. */
export function instanceId(text: string): Verdict<string> {
  return isUuid(text) ? kept(text) : broken('an instance ID is a UUID');
}
