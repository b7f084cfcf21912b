import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

const IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*'(\.[^']+)'/g;

/** They read the flags, values and help of all commands. */
const OF_ALL_COMMANDS = [
  'test/command-line/reference.test.ts',
  'test/completion/answers.test.ts',
  'test/contract/completes.test.ts',
];

/** They compare whole kinds over all rooms. */
const WHOLE_KINDS = [
  'test/golden/golden.test.ts',
  'test/contract/stored-files.test.ts',
  'test/openapi/altered.test.ts',
  'test/contract/flags.test.ts',
  'test/commands/screens.test.ts',
];

/** Returns the files that each file under src/ and test/ imports. */
function importsOf(root) {
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

/** Returns the files that import each file. */
export function importersOf(root) {
  const importers = new Map();
  for (const [file, found] of importsOf(root))
    for (const to of found) importers.set(to, [...(importers.get(to) ?? []), file]);
  return importers;
}

/** Returns the folders and the name in a path, each once, without `src` or `test`. */
function wordsOf(file) {
  return new Set(
    file
      .replace(/(\.test)?\.ts$/, '')
      .split('/')
      .slice(1),
  );
}

/**
 * Returns a function that lists the test files that import a file, directly or through other files.
 * Those with the most folders and names in common come first, then those in the folder of the same
 * name, then those with the fewest steps. Those of all commands follow the first three, and those of whole
 * kinds the first ten.
 */
export function nearestTests(root) {
  const importers = importersOf(root);

  return (source) => {
    const seen = new Set([source]);
    for (const file of seen) for (const next of importers.get(file) ?? []) seen.add(next);
    // Most tests reach the source through the command line, so a common name counts first.
    const words = wordsOf(source);
    const [, room] = source.split('/');
    const common = (test) =>
      [...wordsOf(test)].filter((word) => words.has(word)).length +
      (test.startsWith(`test/${room}/`) ? 0.5 : 0);
    const sorted = [...seen]
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => ({ file, common: common(file) }))
      .sort((a, b) => b.common - a.common)
      .map(({ file }) => file);
    const ofAll = room.startsWith('command') ? OF_ALL_COMMANDS : [];
    const whole = WHOLE_KINDS.filter((test) => seen.has(test));
    const first = [...sorted.slice(0, 3), ...ofAll, ...sorted.slice(3, 10)];
    return [...new Set([...first, ...whole, ...sorted])];
  };
}
