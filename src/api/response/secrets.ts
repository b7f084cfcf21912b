import {
  DEEPEST,
  EVERY_SECRET,
  IMAGE_NAMES,
  isPlain,
  MASK,
  maskLeaves,
  SECRET_NAMES,
  withoutUserinfo,
} from '../../rules/secrets.ts';

/** Names of fields whose whole value is a secret, in any object. */
const SECRET = new Set([
  ...EVERY_SECRET.filter((path) => !path.includes('[]')).map(
    (path) => path.split('.').at(-1) ?? '',
  ),
  ...SECRET_NAMES,
]);
/** Fields with environment variables. Values are secret, names are not. */
const ENVIRONMENT = new Set(['env', 'env_vars']);

/**
 * Returns a copy of a JSON body with secrets masked, for the trace and the journal. Adds each
 * secret to `found`, since a server may repeat it in other fields, such as a link with a token.
 */
export function masked(value: unknown, found: Set<string> = new Set()): unknown {
  return walk(value, 0, found);
}

/** Returns all secrets in a JSON text. */
export function secretsIn(json: string | undefined): Set<string> {
  const found = new Set<string>();
  if (json !== undefined) {
    try {
      masked(JSON.parse(json), found);
    } catch {
      // Skips non-JSON text, since it is never shown.
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
      if (ENVIRONMENT.has(name)) return [name, maskLeaves(inner, found, isKeyName)];
      if (SECRET.has(name.toLowerCase())) return [name, maskedField(name, inner, found)];
      if (IMAGE_NAMES.has(name) && typeof inner === 'string') {
        return [name, withoutUserinfo(inner, found)];
      }
      return [name, walk(inner, depth + 1, found)];
    }),
  );
}

function maskedField(name: string, value: unknown, found: Set<string>): unknown {
  const own = new Set<string>();
  const masked = maskLeaves(value, own);
  for (const secret of own) if (!isPlain(name, secret)) found.add(secret);
  return masked;
}

function isKeyName(name: string): boolean {
  return name === 'key';
}
