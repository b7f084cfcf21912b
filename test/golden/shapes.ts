/** Where a value stands in a document, such as `[].offer.name`, and the types that it has there. */
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
 * What a script that was written for the shape before would miss in the one now: a field that is
 * gone, one of another type, one that may be null. A field that was only ever null may become
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

/** Both shapes in one, for what the sandbox happens not to have today. */
export function joined(before: Shape, now: Shape): Shape {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return Object.fromEntries(
    paths.map((path) => [
      path,
      [...new Set([...(before[path] ?? []), ...(now[path] ?? [])])].sort(),
    ]),
  );
}
