// Builds dist/: the program, its start, which bin/gpucloud.js loads, and the reader of the keyring.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';
import { BUNDLE, ROOT } from './bundle.mjs';
import { buildModules, bundleOf } from './modules.mjs';

/** Writes the licences of everything in the bundle, which must ship with it. */
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

/** Renames a finished file, so that a process that starts now finds the old or the new one, never half. */
function put(path, content) {
  const temporary = new URL(`${path}.${process.pid}.tmp`, ROOT);
  writeFileSync(temporary, content);
  renameSync(temporary, new URL(path, ROOT));
  written.add(path);
}

/** Removes files of an earlier version of this script, which would be packed too. */
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

// The process that reads the system keyring, whose native library is an optional peer.
const keyring = await build({
  ...BUNDLE,
  entryPoints: ['src/keyring.ts'],
  outfile: 'keyring.cjs',
  minify: true,
  write: false,
  external: ['@napi-rs/keyring'],
});
put('dist/keyring.cjs', keyring.outputFiles[0].text);

tidy('dist/');
