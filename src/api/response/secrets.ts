import { DEEPEST, EVERY_SECRET, MASK, maskLeaves } from '../../rules/secrets.ts';

/** Names of fields whose whole value is a secret, in any object. */
const SECRET = new Set(
  EVERY_SECRET.filter((path) => !path.includes('[]')).map((path) => path.split('.').at(-1)),
);
/**
 * The container command: it often contains a token. Masked only in this field, since other texts
 * may contain the same words.
 */
const COMMAND_LINE = 'run_command';
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
      if (name === COMMAND_LINE && typeof inner === 'string') return [name, MASK];
      if (ENVIRONMENT.has(name)) return [name, maskLeaves(inner, found, isKeyName)];
      if (SECRET.has(name)) return [name, maskLeaves(inner, found)];
      return [name, walk(inner, depth + 1, found)];
    }),
  );
}

function isKeyName(name: string): boolean {
  return name === 'key';
}
