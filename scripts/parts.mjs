// Writes dist/gpucloud.cjs: the program in parts, each of which a run reads and compiles only when
// it needs it (src/start/). esbuild splits it into chunks, and turns each chunk into a function that
// imports others by their numbers:
//
//   //HASH
//   [[AT,LENGTH,FIRST],...]                     where each part begins, and its first chunk
//   [function(require,define,load){...},...]    the chunks of part 0
//   ...
//
// Chunk 0 exports an object for each chunk whose getters load the chunk. Others import that object,
// so that a chunk runs when a name of it is first used, and not when it is imported: a group imports
// all that any of its verbs may need. In src/ no import has an effect.
import { createHash } from 'node:crypto';
import { build } from 'esbuild';
import { BUNDLE } from './bundle.mjs';

/** A chunk that is loaded by `import()` has a part of its own from this size on. */
const LEAST_BYTES = 8000;
/** The commands of a group. What no other group needs is in its part. */
const GROUP = /^src\/commands\/[a-z-]+(?:\/index)?\.ts$/;

/** `functions` has the text of each chunk, and `names` what it exports, by its number. */
export async function buildParts() {
  const { metafile, outputFiles } = await build({
    ...BUNDLE,
    format: 'esm',
    splitting: true,
    // `import()` shows the chunks; it becomes `require` below.
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
  // What no chunk of the program has: chunk 0, which is made of the others.
  const parts = [[{ path: '', exports: ['default'] }, ...first], ...rest];
  const chunks = parts.flat();
  const numbers = new Map(chunks.map(({ path }, number) => [nameOf(path), number]));
  const functions = await Promise.all(chunks.slice(1).map((chunk) => functionOf(chunk, numbers)));
  const texts = [facades(chunks), ...functions];
  return {
    text: assembled(parts, texts),
    functions: texts,
    metafile,
    names: chunks.map((chunk) => chunk.exports),
  };
}

/** Chunks by part, `src/main.ts` first. */
function arranged(chunks) {
  const chunkAt = (path) => chunks.find((chunk) => chunk.path === path);
  const main = chunks.find(({ entryPoint }) => entryPoint === 'src/main.ts');
  if (main === undefined) throw new Error('The chunk of src/main.ts is missing.');
  /** What is reached from a chunk by imports that `follows` accepts. */
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
  const groups = heads.map((head) => reached(head, (_import, next) => small.includes(next)));
  // What is reached past all groups is for every command.
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
    // `import.meta` is empty in CommonJS, which the parts that ask for it can bear.
    logOverride: { 'empty-import-meta': 'silent' },
  });
  return `function(require,define,load){"use strict";${asAscii(outputFiles[0]?.text ?? '')}}`;
}

const EXPORTS = /\bexport\{([^{}]*)\};\s*$/;
/** How a module of CommonJS ends. */
const DEFAULT_EXPORT = /\bexport default ([\w$]+\(\));\s*$/;

/**
 * Cuts off the last statement of a chunk, so that esbuild does not give each chunk its own helpers
 * for exports: `export{a as b,c};`. `values` has the expression of each exported name.
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
function facades(chunks) {
  const list = chunks.map((chunk, number) => {
    const getters = chunk.exports.map((name) => `get ${name}(){return load(${number}).${name}}`);
    return `()=>({__esModule:true,${getters.join(',')}})`;
  });
  return `function(require,define,load){"use strict";define([${list.join(',\n')}])}`;
}

/** esbuild writes the characters of strings in ASCII, but not those of regular expressions. */
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
