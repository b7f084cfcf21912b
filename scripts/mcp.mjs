// Makes what `gpucloud mcp` serves at build time: making the list of tools would take 30 % of its
// start, and the package contains no docs/.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { build } from 'esbuild';
import { BUNDLE, ROOT } from './bundle.mjs';

const TOOLS = `
  import { referenceOf } from './src/command-line/reference/index.ts';
  import { toolsIn } from './src/mcp/tools.ts';
  import { buildProgram } from './src/program.ts';
  const tree = buildProgram({ runtime: {}, version: '', write() {}, width: 80, isColoured: () => false });
  process.stdout.write(JSON.stringify(toolsIn(referenceOf(tree))));`;

/** These pages are for people who read the repository. */
const NOT_SERVED = ['README.md', 'architecture.md'];

/** Returns the constants of src/mcp/built.ts. */
export async function mcpConstants() {
  const { outputFiles } = await build({
    ...BUNDLE,
    entryPoints: [],
    stdin: { contents: TOOLS, resolveDir: fileURLToPath(ROOT) },
    write: false,
    // `import.meta` is empty in CommonJS. Modules that use `import.meta` handle an empty value.
    logOverride: { 'empty-import-meta': 'silent' },
  });
  const tools = execFileSync(process.execPath, ['-'], {
    input: outputFiles[0].text,
    maxBuffer: 2 ** 24,
  });
  const docs = new URL('docs/', ROOT);
  const names = readdirSync(docs)
    .filter((name) => name.endsWith('.md') && !NOT_SERVED.includes(name))
    .sort();
  const pages = names.map((name) => [
    name.replace('.md', ''),
    readFileSync(new URL(name, docs), 'utf8'),
  ]);
  return {
    GPUCLOUD_TOOLS: packed(tools),
    GPUCLOUD_PAGES: packed(JSON.stringify(Object.fromEntries(pages))),
  };
}

function packed(json) {
  return JSON.stringify(brotliCompressSync(json).toString('base64'));
}
