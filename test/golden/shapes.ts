/** The path of a value in a document, such as `[].offer.name`, and the types that it has there. */
export type Shape = Readonly<Record<string, readonly string[]>>;

export function shapeOf(document: unknown): Shape {
  const found = new Map<string, Set<string>>();
  visit(document, '', found);
  return Object.fromEntries(
    [...found]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, types]) => [path === '' ? '.' : path, [...types].sort()]),
  );
}

function visit(value: unknown, path: string, found: Map<string, Set<string>>): void {
  const types = found.get(path) ?? new Set();
  found.set(path, types.add(typeOf(value)));
  if (Array.isArray(value)) {
    for (const item of value) visit(item, `${path}[]`, found);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      visit(item, path === '' ? key : `${path}.${key}`, found);
    }
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/**
 * Returns what a script for the old shape would miss in the new one: a field that is gone, has
 * another type, or may now be null. A field that was always null may become
 * anything.
 */
export function lost(before: Shape, now: Shape): string[] {
  return Object.entries(before).flatMap(([path, old]) => {
    const current = now[path];
    if (current === undefined) return [`${path} is gone`];
    if (old.every((type) => type === 'null')) return [];
    const strange = current.filter((type) => !old.includes(type));
    return strange.length === 0
      ? []
      : [`${path} was ${old.join(' or ')} and is ${current.join(' or ')}`];
  });
}

/** Merges two shapes, since the sandbox may lack something today. */
export function joined(before: Shape, now: Shape): Shape {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return Object.fromEntries(
    paths.map((path) => [
      path,
      [...new Set([...(before[path] ?? []), ...(now[path] ?? [])])].sort(),
    ]),
  );
}
