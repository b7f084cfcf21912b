// Writes dist/gpucloud.cjs: the program in parts, each of which a run reads and compiles only if
// needed (src/start/). esbuild splits it into chunks; each chunk becomes a function that
// imports others by number:
//
//   //HASH
// [[AT,LENGTH,FIRST],...]                the start of each part, and its first chunk
//   [function(require,define){...},...]    the chunks of part 0
//   ...
//
// Chunk 0 exports the names that each chunk exports. By them, a chunk runs when one of its names is
// first used, and not when it is imported: a group imports everything that its verbs may need. In src/
// no import has an effect.
import { createHash } from 'node:crypto';
import { build } from 'esbuild';
import { BUNDLE } from './bundle.mjs';

/** The size from which a chunk loaded by `import()` gets its own part. */
const LEAST_BYTES = 8000;
/** The commands of a group, or the sandbox. Its part holds what no other group needs. */
const GROUP = /^src\/(?:commands\/[a-z-]+(?:\/index)?|sandbox\/index)\.ts$/;

/** `functions` has the text of each chunk, and `names` its exports, by number. */
export async function buildParts() {
  const { metafile, outputFiles } = await build({
    ...BUNDLE,
    format: 'esm',
    splitting: true,
    // `import()` marks the chunks; it becomes `require` below.
    supported: {},
    outdir: 'parts',
    minify: true,
    metafile: true,
    write: false,
  });
  const sources = new Map(outputFiles.map(({ path, text }) => [nameOf(path), text]));
  const all = Object.entries(metafile.outputs).map(([path, output]) => ({
    ...output,
    path,
    source: sources.get(nameOf(path)),
  }));
  const [first = [], ...rest] = arranged(all);
  // Only chunk 0, which is made from the others, has this.
  const parts = [[{ path: '', exports: ['default'] }, ...first], ...rest];
  const chunks = parts.flat();
  const numbers = new Map(chunks.map(({ path }, number) => [nameOf(path), number]));
  const functions = await Promise.all(chunks.slice(1).map((chunk) => functionOf(chunk, numbers)));
  const texts = [exportedNames(chunks), ...functions];
  return {
    text: assembled(parts, texts),
    functions: texts,
    metafile,
    names: chunks.map((chunk) => chunk.exports),
  };
}

/** Returns the chunks by part, `src/main.ts` first. */
function arranged(chunks) {
  const chunkAt = (path) => chunks.find((chunk) => chunk.path === path);
  const main = chunks.find(({ entryPoint }) => entryPoint === 'src/main.ts');
  if (main === undefined) throw new Error('The chunk of src/main.ts is missing.');
  /** Returns the chunks that imports accepted by `follows` reach from a chunk. */
  const reached = (from, follows) => {
    const found = new Set([from]);
    for (const { imports } of found) {
      for (const one of imports) {
        const next = chunkAt(one.path);
        if (next !== undefined && follows(one, next)) found.add(next);
      }
    }
    return found;
  };
  const core = reached(main, ({ kind }) => kind === 'import-statement');
  const others = [...reached(main, () => true)].filter((chunk) => !core.has(chunk));
  const isLarge = ({ entryPoint, bytes }) => entryPoint !== undefined && bytes >= LEAST_BYTES;
  const small = others.filter((chunk) => !isLarge(chunk));
  const heads = small.filter(({ entryPoint }) => GROUP.test(entryPoint ?? ''));
  const isInside = (next) => small.includes(next) && !heads.includes(next);
  const groups = heads.map((head) => reached(head, (_import, next) => isInside(next)));
  // Chunks reached without any group are for every command.
  const shared = reached(main, (_import, next) => !heads.includes(next));
  const groupOf = (chunk) => {
    const [group, ...more] = groups.filter((one) => one.has(chunk));
    return more.length === 0 && !shared.has(chunk) ? group : undefined;
  };
  const parts = [
    [...core],
    small.filter((chunk) => groupOf(chunk) === undefined),
    ...groups.map((group) => [...group].filter((chunk) => groupOf(chunk) === group)),
    ...others.filter(isLarge).map((chunk) => [chunk]),
  ];
  return parts.filter((part) => part.length > 0);
}

async function functionOf({ path, source, exports }, numbers) {
  const { body, values } = withoutExports(source);
  if (Object.keys(values).sort().join() !== [...exports].sort().join()) {
    throw new Error(`The exports of ${path} were not found in its text.`);
  }
  const getters = Object.entries(values).map(([name, value]) => `get ${name}(){return ${value}}`);
  const numbered = {
    name: 'numbered',
    setup({ onResolve }) {
      onResolve({ filter: /^\.\// }, ({ path }) => ({
        path: String(numbers.get(nameOf(path))),
        external: true,
      }));
      onResolve({ filter: /.*/ }, ({ path, kind }) =>
        kind === 'entry-point' ? undefined : { path, external: true },
      );
    },
  };
  const { outputFiles } = await build({
    ...BUNDLE,
    entryPoints: [],
    stdin: {
      contents: `define({__esModule:true,${getters.join(',')}});${body}`,
      resolveDir: BUNDLE.absWorkingDir,
    },
    plugins: [numbered],
    minify: true,
    write: false,
    // `import.meta` is empty in CommonJS, which its users survive.
    logOverride: { 'empty-import-meta': 'silent' },
  });
  return `function(require,define){"use strict";${asAscii(outputFiles[0]?.text ?? '')}}`;
}

const EXPORTS = /\bexport\{([^{}]*)\};\s*$/;
/** The end of a CommonJS module. */
const DEFAULT_EXPORT = /\bexport default ([\w$]+\(\));\s*$/;

/**
 * Cuts off the last statement of a chunk, so that esbuild adds no helpers for exports to each:
 * `export{a as b,c};`. `values` has the expression of each exported name.
 */
export function withoutExports(source) {
  const names = EXPORTS.exec(source);
  if (names !== null) {
    const pairs = names[1].split(',').map((one) => one.trim().split(' as '));
    const values = Object.fromEntries(pairs.map(([local, name = local]) => [name, local]));
    return { body: source.slice(0, names.index), values };
  }
  const only = DEFAULT_EXPORT.exec(source);
  if (only !== null) return { body: source.slice(0, only.index), values: { default: only[1] } };
  return { body: source, values: {} };
}

/** Chunk 0. */
function exportedNames(chunks) {
  const names = chunks.map((chunk) => chunk.exports);
  return `function(require,define){define(${JSON.stringify(names)})}`;
}

/** esbuild escapes non-ASCII characters in strings, but not in regular expressions. */
function asAscii(text) {
  return text
    .trim()
    .replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function assembled(parts, functions) {
  const table = [];
  let text = '';
  let first = 0;
  for (const { length } of parts) {
    const part = `[${functions.slice(first, first + length).join(',\n')}]\n`;
    table.push([text.length, part.length, first]);
    text += part;
    first += length;
  }
  const rest = `${JSON.stringify(table)}\n${text}`;
  return `//${createHash('sha256').update(rest).digest('hex').slice(0, 16)}\n${rest}`;
}

function nameOf(path) {
  return path.replace(/^.*[\\/]/, '');
}
