// The bundle as parts that can be read, compiled and kept one by one, so that a run compiles what its
// command needs. esbuild splits modules of ECMAScript alone; each chunk that it makes becomes a
// function of CommonJS here, and the functions stand together in one file:
//
//   //<name: a hash of all that follows>
//   const table=<where the parts are, from the next line on; see src/start/loader.ts>;
//   <the loader> const parts=[
//   ([function(require,exports,define,wrap){...},
//   ...]),
//   ...
//   ];...
//
// A chunk runs when a name that it exports is first used, and not when it is imported: the verbs of
// a group import all that any of them may need. In src/ no import has an effect of its own.
//
// bin/gpucloud.js takes parts out of the file (see src/start/); `node dist/gpucloud.cjs` runs it as
// it is.
import { createHash } from 'node:crypto';
import { build, transform } from 'esbuild';
import { BUNDLE } from './bundle.mjs';
import { SLOW } from './lazy-node.mjs';
import { RECORDED, usualChunks } from './usual.mjs';

/** What is loaded on demand and smaller than this is no part of its own. */
const LEAST_BYTES = 8000;
/** Rooms whose modules describe and check, and are used while a group is put together. */
const KIT =
  /^(?:lazy-node:|src\/(?:cli|commands|rules|output|watch|money|reach|instances)\/)|\/big\.js\//;
/** What loads the verbs of a group. */
const GROUP = /^src\/commands\/[a-z-]+\/index\.ts$/;
/** What esbuild writes ahead of a chunk of CommonJS, one of them. */
const HELPER = /^var __\w+ = .*\n(?:[ })].*\n)*/gm;
const STATIC_IMPORT = /^var (import_\w+) = require\("\.\/([^"/]+\.js)"\);\n/gm;
/** Modules of Node that take long to load are loaded at the first use of a name of theirs. */
const SLOW_IMPORT = new RegExp(
  `^var (import_\\w+) = require\\("(node:(?:${SLOW.join('|')}))"\\);\\n`,
  'gm',
);
const DYNAMIC_IMPORT =
  /Promise\.resolve\(\)\.then\(\(\) => __toESM\(require\("\.\/([^"/]+\.js)"\)\)\)/g;
const SEPARATOR = ',\n';

/** `names` tells what each chunk exports, by its number. */
export async function buildParts() {
  const { metafile, outputFiles } = await build({
    ...BUNDLE,
    format: 'esm',
    splitting: true,
    // The functions are of CommonJS, so what `import()` becomes is left to the second step.
    supported: {},
    outdir: 'parts',
    minify: true,
    metafile: true,
    write: false,
  });
  const outputs = Object.entries(metafile.outputs).map(([path, output]) => ({ path, ...output }));
  const main = outputs.find(({ entryPoint }) => entryPoint === 'src/main.ts');
  if (main === undefined) throw new Error('The chunk of src/main.ts is missing.');
  const reached = new Set([main]);
  for (const { imports } of reached) {
    for (const { path } of imports) {
      const next = outputs.find((one) => one.path === path);
      if (next !== undefined) reached.add(next);
    }
  }
  const chunks = [...reached];

  const isCommonJs = (entryPoint) =>
    entryPoint !== undefined && metafile.inputs[entryPoint]?.format === 'cjs';

  const core = new Set();
  const addToCore = (chunk) => {
    if (core.has(chunk)) return;
    core.add(chunk);
    for (const { kind, path } of chunk.imports) {
      const next = chunks.find((one) => one.path === path);
      if (kind === 'import-statement' && next !== undefined) addToCore(next);
    }
  };
  addToCore(main);
  const others = chunks.filter((chunk) => !core.has(chunk));
  const isApart = ({ entryPoint, bytes }) => bytes >= LEAST_BYTES && entryPoint !== undefined;
  const small = others.filter((chunk) => !isApart(chunk));
  // What groups are put together from; the rest is for verbs at work, and help needs none of it.
  const isKit = ({ inputs }) =>
    Object.entries(inputs).every(
      ([path, { bytesInOutput }]) => bytesInOutput === 0 || KIT.test(path),
    );
  // What one group of commands alone leads to is of no use to the others.
  const below = (chunk, found = new Set()) => {
    for (const { path } of chunk.imports) {
      const next = small.find((one) => one.path === path);
      if (next !== undefined && !found.has(next)) below(next, found.add(next));
    }
    return found;
  };
  const groups = small
    .filter(({ entryPoint }) => GROUP.test(entryPoint ?? ''))
    .map((chunk) => below(chunk, new Set([chunk])));
  const ownerOf = (chunk) => {
    const owners = groups.filter((group) => group.has(chunk));
    return owners.length === 1 ? owners[0] : undefined;
  };
  const common = small.filter((chunk) => ownerOf(chunk) === undefined);
  const parts = [
    [...core],
    common.filter(isKit),
    common.filter((chunk) => !isKit(chunk)),
    ...groups.map((group) => [...group].filter((chunk) => ownerOf(chunk) === group)),
    ...others.filter(isApart).map((chunk) => [chunk]),
  ];

  const texts = new Map(outputFiles.map(({ path, text }) => [nameOf(path), text]));
  const first = await layOut(parts, texts, isCommonJs);
  const ran = await usualChunks(first.text(RECORDED));
  const usual = parts.flat().filter((_chunk, id) => ran.has(id));
  const rest = parts.map((part) => part.filter((chunk) => !usual.includes(chunk)));
  const all = [usual, ...rest.filter((part) => part.length > 0)];
  const { text } = await layOut(all, texts, isCommonJs);
  return { text: text(), metafile, names: all.flat().map((chunk) => chunk.exports) };
}

/** The parts as the text of a file. Chunks are numbered as they stand in them. */
async function layOut(parts, texts, isCommonJs) {
  const known = new Map(
    parts
      .flat()
      .map(({ path, entryPoint }, id) => [
        nameOf(path),
        { id, isCommonJs: isCommonJs(entryPoint) },
      ]),
  );
  const written = [];
  for (const part of parts) {
    const functions = [];
    for (const { path } of part) {
      functions.push(await functionOf(nameOf(path), texts, known));
    }
    // In brackets, so that what is cut out of the file is an expression without being copied again.
    written.push(`([${functions.join(',\n')}])`);
  }
  let next = 0;
  const firsts = parts.map((part) => {
    const first = next;
    next += part.length;
    return first;
  });
  const loader = await plainLoader();
  return { text: (partAt) => assembled(written, firsts, loader, partAt) };
}

/** What runs the parts where bin/gpucloud.js does not. */
async function plainLoader() {
  const { outputFiles } = await build({
    ...BUNDLE,
    entryPoints: ['src/start/loader.ts'],
    format: 'iife',
    globalName: 'loader',
    minify: true,
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

function nameOf(path) {
  return path.replace(/^.*[\\/]/, '');
}

/**
 * The function of a chunk: `import{a}from"./x.js"` and its uses become `require(7).a`, which runs
 * chunk 7 when it is first come by. What esbuild would put into each chunk by itself for that, the loader has
 * once.
 */
async function functionOf(name, texts, known) {
  const options = { platform: 'node', target: BUNDLE.target, charset: BUNDLE.charset };
  const { code } = await transform(texts.get(name) ?? '', {
    ...options,
    format: 'cjs',
    supported: BUNDLE.supported,
  });
  let body = code
    .replace(HELPER, '')
    .replace('var stdin_exports = {};\n', '')
    .replace('__export(stdin_exports, ', 'define__(exports__, ')
    .replace('module.exports = __toCommonJS(stdin_exports);\n', '')
    .replace(/^\/\/ Annotate the CommonJS .*\n0 && \(module\.exports = \{[^}]*\}\);\n/m, '');
  for (const [statement, variable, path] of body.matchAll(STATIC_IMPORT)) {
    const { id } = known.get(path);
    body = body.replace(statement, '').replaceAll(`${variable}.`, `(require(${id})).`);
  }
  for (const [statement, variable, path] of body.matchAll(SLOW_IMPORT)) {
    body = body.replace(statement, '').replaceAll(`${variable}.`, `(require("${path}")).`);
  }
  body = body
    .replace(DYNAMIC_IMPORT, (_all, path) => {
      const { id, isCommonJs } = known.get(path);
      return `Promise.resolve().then(() => ${isCommonJs ? `wrap__(require(${id}))` : `require(${id})`})`;
    })
    .replace(/\b__toESM\(require\(/g, 'wrap__(require(');
  const left =
    /import_chunk_\w+|\b__(?:export|reExport|toESM|toCommonJS|copyProps)\b|"\.\/[^"]*\.js"/.exec(
      body,
    );
  if (left !== null) throw new Error(`${name} has an import that is not understood: ${left[0]}`);
  // What is imported is the module of CommonJS itself, and not one whose default it is.
  const outro = known.get(name).isCommonJs ? 'return exports__.default;' : '';
  const { code: small } = await transform(
    `chunk = function (require, exports__, define__, wrap__) { "use strict"; ${body}\n${outro} };`,
    { ...options, minify: true },
  );
  return asAscii(
    small
      .trim()
      .replace(/^chunk=/, '')
      .replace(/;$/, ''),
  );
}

/** esbuild writes the characters of strings in ASCII, but not those of regular expressions. */
function asAscii(text) {
  return text.replace(
    /[^\x00-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function assembled(written, firsts, loader, partAt = '(part)=>parts[part]') {
  const intro = `${loader}const parts=[\n`;
  let at = intro.length;
  const table = written.map((text, index) => {
    const row = [at, text.length, firsts[index]];
    at += text.length + SEPARATOR.length;
    return row;
  });
  const outro = `\n];\nloader.runChunks(table,${partAt},require);\n`;
  const rest = `const table=${JSON.stringify(table)};\n${intro}${written.join(SEPARATOR)}${outro}`;
  return `//${createHash('sha256').update(rest).digest('hex').slice(0, 32)}\n${rest}`;
}
