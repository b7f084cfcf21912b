// Builds dist/: the program, the starter that bin/gpucloud.js loads, and the keyring reader.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';
import { BUNDLE, ROOT } from './bundle.mjs';
import { buildModules, bundleOf } from './modules.mjs';

/** Returns the licences of all bundled packages, which the bundle must include. */
function licencesOf(inputs) {
  const parts = new Set();
  for (const input of Object.keys(inputs)) {
    const part = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (part !== null) parts.add(part[0].slice(0, -1));
  }
  return [...parts].sort().map((folder) => {
    const at = new URL(`${folder}/`, ROOT);
    const { name, version, license } = JSON.parse(
      readFileSync(new URL('package.json', at), 'utf8'),
    );
    const file = readdirSync(at).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
    const text = file === undefined ? '' : readFileSync(new URL(file, at), 'utf8').trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
}

/** Replaces a file by renaming, so that a process starting now never reads half of it. */
function put(path, content) {
  const temporary = new URL(`${path}.${process.pid}.tmp`, ROOT);
  writeFileSync(temporary, content);
  renameSync(temporary, new URL(path, ROOT));
  written.add(path);
}

/** Removes files that an earlier version of this script wrote, since npm would pack them. */
function tidy(folder) {
  for (const entry of readdirSync(new URL(folder, ROOT), { withFileTypes: true })) {
    const path = `${folder}${entry.name}`;
    const isOld = entry.isFile() && !written.has(path) && !path.endsWith('.tmp');
    if (isOld) rmSync(new URL(path, ROOT));
  }
}

const written = new Set();
mkdirSync(new URL('dist/', ROOT), { recursive: true });

const { modules, metafile } = await buildModules();
put('dist/gpucloud.cjs', bundleOf(modules));

const start = await build({
  ...BUNDLE,
  entryPoints: ['src/start/index.ts'],
  outfile: 'start.cjs',
  minify: true,
  write: false,
});
put('dist/start.cjs', start.outputFiles[0].text);

put(
  'dist/THIRD-PARTY-LICENSES.txt',
  `gpucloud contains these parts.\n\n${licencesOf(metafile.inputs).join(`\n${'-'.repeat(72)}\n\n`)}`,
);

// Builds the keyring reader as a separate process: its native library is an optional peer.
const keyring = await build({
  ...BUNDLE,
  entryPoints: ['src/system/keyring.ts'],
  outfile: 'keyring.cjs',
  minify: true,
  write: false,
  external: ['@napi-rs/keyring'],
});
put('dist/keyring.cjs', keyring.outputFiles[0].text);

tidy('dist/');
