import { MASK, SHORTEST_SECRET } from '../../rules/secrets.ts';

/** Fields whose whole value is a secret. */
const SECRET = new Set([
  'secret_key',
  'current_password',
  'new_password',
  'password',
  'secrets',
  'metadata',
]);
/** Fields that hold environment variables; the variables' names may be shown. */
const ENVIRONMENT = new Set(['env', 'env_vars']);
/** Deepest nesting to search: real secrets are not deeper, and the stack is limited. */
const DEEPEST = 60;

/**
 * Returns a copy of a JSON value with secrets masked, for the trace. Adds the masked texts to
 * `found`, since a server may repeat them in other fields (such as a token in a link).
 */
export function masked(value: unknown, found: Set<string>): unknown {
  return walk(value, 0, found);
}

/** Returns all secret texts in a JSON text; none if it is not JSON. */
export function secretsIn(json: string | undefined): Set<string> {
  const found = new Set<string>();
  if (json !== undefined) {
    try {
      masked(JSON.parse(json), found);
    } catch {
      // Non-JSON text is never shown, so don't search it.
    }
  }
  return found;
}

function walk(value: unknown, depth: number, found: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST) return MASK;
  if (Array.isArray(value)) return value.map((item) => walk(item, depth + 1, found));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (SECRET.has(name)) return [name, leaves(inner, depth + 1, found, () => false)];
      if (ENVIRONMENT.has(name)) return [name, leaves(inner, depth + 1, found, isKeyName)];
      return [name, walk(inner, depth + 1, found)];
    }),
  );
}

function isKeyName(name: string): boolean {
  return name === 'key';
}

/** Masks every leaf except null, which contains nothing. */
function leaves(
  value: unknown,
  depth: number,
  found: Set<string>,
  isOpen: (name: string) => boolean,
): unknown {
  if (value === null) return null;
  if (typeof value !== 'object' || depth > DEEPEST) {
    if (typeof value === 'string' && value.length >= SHORTEST_SECRET) found.add(value);
    return MASK;
  }
  if (Array.isArray(value)) return value.map((item) => leaves(item, depth + 1, found, isOpen));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      isOpen(name) && typeof inner === 'string' ? inner : leaves(inner, depth + 1, found, isOpen),
    ]),
  );
}
