import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

const IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*'(\.[^']+)'/g;

/** Returns the files that each file under src/ and test/ imports. */
export function importsOf(root) {
  const graph = new Map();
  for (const folder of ['src', 'test']) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts')) continue;
      const file = posix.join(folder, name.replaceAll('\\', '/'));
      const found = [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)].map(([, to]) =>
        posix.join(dirname(file), to).replace(/\.js$/, '.ts'),
      );
      graph.set(
        file,
        found.flatMap((to) =>
          [to, `${to}.ts`, `${to}/index.ts`].filter((path) => existsSync(join(root, path))),
        ),
      );
    }
  }
  return graph;
}

/** Returns a function that lists the test files that import a file, those with fewest steps first. */
export function nearestTests(root) {
  const importers = new Map();
  for (const [file, found] of importsOf(root))
    for (const to of found) importers.set(to, [...(importers.get(to) ?? []), file]);

  return (source) => {
    const seen = new Set([source]);
    for (const file of seen) for (const next of importers.get(file) ?? []) seen.add(next);
    return [...seen].filter((file) => file.endsWith('.test.ts'));
  };
}
