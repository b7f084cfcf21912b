const MASK = '***';

/** Fields whose whole value is a secret. */
const SECRET = new Set([
  'secret_key',
  'current_password',
  'new_password',
  'password',
  'secrets',
  'metadata',
]);
/** Fields that hold the variables of an environment, whose names may be seen. */
const ENVIRONMENT = new Set(['env', 'env_vars']);
/** Nothing sensible is nested deeper, and what is may not exhaust the stack. */
const DEEPEST = 60;
/** Shorter texts stand in innocent places too: `true`, `root`, `en`. */
const SHORTEST = 6;

/**
 * A copy of a JSON value with every secret replaced, for the trace. Texts that were replaced are
 * added to `found`, since a server may repeat them elsewhere (a token in a link, say).
 */
export function masked(value: unknown, found: Set<string>): unknown {
  return walk(value, 0, found);
}

/** All secret texts in a JSON text; none when it is no JSON. */
export function secretsIn(json: string | undefined): Set<string> {
  const found = new Set<string>();
  if (json !== undefined) {
    try {
      masked(JSON.parse(json), found);
    } catch {
      // Text that is no JSON is never shown, so there is nothing in it to look for.
    }
  }
  return found;
}

/** A text without the given secrets, and without anything that looks like a key of the service. */
export function hidden(text: string, secrets: Iterable<string>): string {
  let clean = text;
  const spellings = new Set([...secrets].flatMap(spellingsOf));
  for (const secret of [...spellings].sort((a, b) => b.length - a.length)) {
    clean = clean.replaceAll(secret, MASK);
  }
  return clean.replace(/svc_sk_[A-Za-z0-9_-]+/g, `svc_sk_${MASK}`);
}

/** As it is, inside a JSON text, inside a JSON text within another, and in a link. */
function spellingsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const twice = JSON.stringify(inJson).slice(1, -1);
  return [secret, inJson, twice, encodeURIComponent(secret.toWellFormed())];
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

/** Every leaf replaced, but null, which says only that there is nothing. */
function leaves(
  value: unknown,
  depth: number,
  found: Set<string>,
  isOpen: (name: string) => boolean,
): unknown {
  if (value === null) return null;
  if (typeof value !== 'object' || depth > DEEPEST) {
    if (typeof value === 'string' && value.length >= SHORTEST) found.add(value);
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
