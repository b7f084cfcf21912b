// Writes dist/gpucloud.cjs: each file of src/ as a CommonJS module, with the packages that it
// imports. Reads, compiles and runs a module when one of its names is first used
// (src/start/modules.ts), since a command needs few modules. Modules in src/ have no side effects
// when imported.
//
//   //HASH
//   [LENGTH,...]                                   of each module, src/main.ts first
//   (function(require,define){...})...             they require each other by number
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { BUNDLE } from './bundle.mjs';
import { mcpConstants } from './mcp.mjs';

const SRC = join(BUNDLE.absWorkingDir, 'src');
/** Excludes separate programs and declarations. */
const NOT_MODULES = /^(?:start\/|system\/keyring\.ts$)|\.d\.ts$/;

/** Returns each module's text and esbuild's metafile. */
export async function buildModules() {
  const names = readdirSync(SRC, { recursive: true })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.ts') && !NOT_MODULES.test(name))
    .sort((one, other) => (other === 'main.ts') - (one === 'main.ts') || (one < other ? -1 : 1));
  const files = names.map((name) => join(SRC, name));
  const exported = await exportsOf(files);
  const links = {
    name: 'links',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /./ }, ({ path, kind }) =>
        kind === 'entry-point' ? { path, namespace: 'module' } : undefined,
      );
      onLoad({ filter: /./, namespace: 'module' }, ({ path }) => ({
        contents: definition(path, exported.get(path)),
        resolveDir: SRC,
      }));
      onResolve({ filter: /^\./ }, ({ path, importer, resolveDir }) => {
        if (!files.includes(importer)) return undefined;
        const number = files.indexOf(join(resolveDir, path));
        if (number < 0) throw new Error(`${path}, imported by ${importer}, is not in src/.`);
        return { path: String(number), external: true };
      });
      // Loads only `node:` modules late, since a package may export a class.
      onResolve({ filter: /^node:/ }, ({ path, kind }) => ({
        path: kind === 'require-call' ? path.slice('node:'.length) : path,
        external: true,
      }));
    },
  };
  const { metafile, outputFiles } = await build({
    ...BUNDLE,
    entryPoints: files.map((file, number) => ({ in: file, out: String(number) })),
    plugins: [...BUNDLE.plugins, links],
    define: { ...BUNDLE.define, ...(await mcpConstants()) },
    outdir: 'modules',
    minify: true,
    metafile: true,
    write: false,
    // `import.meta` is empty in CommonJS. Modules that use `import.meta` handle an empty value.
    logOverride: { 'empty-import-meta': 'silent' },
  });
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path, '.js'), text]));
  return { modules: files.map((_, number) => functionOf(texts.get(String(number)))), metafile };
}

async function exportsOf(files) {
  const { metafile } = await build({
    absWorkingDir: BUNDLE.absWorkingDir,
    entryPoints: files,
    outdir: 'exports',
    metafile: true,
    write: false,
  });
  const outputs = Object.values(metafile.outputs);
  return new Map(
    outputs.map(({ entryPoint, exports }) => [join(BUNDLE.absWorkingDir, entryPoint), exports]),
  );
}

/** Replaces esbuild's export helpers, which each module would repeat. */
function definition(file, names) {
  const getters = names.map((name) => `get ${name}(){return all.${name}}`);
  return `import * as all from ${JSON.stringify(file)};define({__esModule:true,${getters.join()}});`;
}

/** Escapes non-ASCII characters in regular expressions, which esbuild leaves as they are. */
function functionOf(text) {
  const ascii = text.replace(
    /[^\x00-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `(function(require,define){"use strict";${ascii}})`;
}

/** Returns the content of dist/gpucloud.cjs. */
export function bundleOf(modules) {
  const lengths = JSON.stringify(modules.map(({ length }) => length));
  const rest = `${lengths}\n${modules.join('')}`;
  return `//${createHash('sha256').update(rest).digest('hex').slice(0, 16)}\n${rest}`;
}
