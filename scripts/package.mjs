// npm run package writes everything to publish to dist/packages/.
//   gpucloud-VERSION.tgz             the npm package
//   gpucloud-VERSION-TARGET.tar.xz   the executable with man pages and completions; .zip for Windows
//   gpucloud_VERSION_ARCH.deb        the same for Debian and Ubuntu, if dpkg-deb is installed
//   install.sh, SHA256SUMS, and what publish.mjs writes
// --target NAME (repeatable) or --all instead of this computer's target. --level 0 to 9 sets the
// compression level. The same commit produces the same bytes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeArchives } from './archives.mjs';
import { ROOT, version } from './bundle.mjs';
import { buildExecutables } from './executable.mjs';
import { isPlaceholder, published } from './publish.mjs';
import { HERE, runtimeFor, TARGET_NAMES } from './runtimes.mjs';

process.umask(0o022);
const { values } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    target: { type: 'string', multiple: true, default: [HERE] },
    level: { type: 'string', default: '2' },
  },
});
const targets = values.all ? TARGET_NAMES : [...new Set(values.target)];
const packages = fileURLToPath(new URL('dist/packages/', ROOT));

const started = Date.now();
let before = started;
/** Prints a step and how long it took. */
function report(what) {
  console.log(`${what}, ${Math.round((Date.now() - before) / 1000)} s`);
  before = Date.now();
}
function sizeOf(file) {
  return `${basename(file)}: ${(statSync(file).size / 1e6).toFixed(1)} MB`;
}
function npm(...args) {
  const options = { cwd: fileURLToPath(ROOT), stdio: ['ignore', 'ignore', 'inherit'] };
  execFileSync('npm', args, options);
}
function sumOf(name) {
  return createHash('sha256')
    .update(readFileSync(join(packages, name)))
    .digest('hex');
}

console.log(`Packing gpucloud ${version} for ${targets.join(', ')}: a minute or two for each.`);
for (const target of targets) runtimeFor(target);
rmSync(packages, { recursive: true, force: true });
mkdirSync(packages, { recursive: true });
npm('run', '--silent', 'build');
npm('pack', '--silent', '--ignore-scripts', '--pack-destination', packages);
report(sizeOf(join(packages, `gpucloud-${version}.tgz`)));
await buildExecutables(targets, (file) => report(sizeOf(file)));
for (const target of targets) {
  writeArchives(target, packages, values.level, (archive) => report(sizeOf(archive)));
}

const archives = readdirSync(packages).filter((name) => /\.(?:tar\.xz|zip)$/.test(name));
const sums = new Map(archives.map((name) => [name, sumOf(name)]));
for (const [name, text] of published(sums)) {
  writeFileSync(join(packages, name), text, { mode: name.endsWith('.sh') ? 0o755 : 0o644 });
}
const names = readdirSync(packages).sort();
const lines = names.map((name) => `${sumOf(name)}  ${name}\n`);
writeFileSync(join(packages, 'SHA256SUMS'), lines.join(''));
if (isPlaceholder) {
  console.error('The address of a release is a placeholder: set it in packaging/release.json.');
}
console.log(
  `Wrote ${names.length + 1} files to dist/packages in ${Math.round((Date.now() - started) / 1000)} s.`,
);
