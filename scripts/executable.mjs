// npm run build:exe writes dist/exe/gpucloud, one file with the program and its runtime.
//   --target linux-arm64    builds for another computer: dist/exe/gpucloud-linux-arm64
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { BUNDLE, ROOT } from './bundle.mjs';
import { signatureOf, withoutSignature } from './mach-o.mjs';
import { buildModules } from './modules.mjs';
import { HERE, isWindows, keyringFor, runtimeFor } from './runtimes.mjs';

const ENTRY = `
  import { start } from './src/start/executable.ts';
  import modules from 'inside:modules';
  const inside = { modules, node: (id) => require(id), keyring: () => require('./src/system/keyring.ts') };
  start(inside, process.argv.slice(2));`;

/**
 * Bundles the program as one CommonJS file with the same modules as the Node bundle. esbuild
 * bundles everything first, because Bun would replace undici with its own version.
 */
async function bundle() {
  const { modules } = await buildModules();
  const inside = {
    name: 'inside',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^inside:/ }, ({ path }) => ({ path, namespace: 'inside' }));
      onLoad({ filter: /.*/, namespace: 'inside' }, () => ({
        contents: `export default [${modules.join(',\n')}]`,
      }));
      onResolve({ filter: /^@napi-rs\/keyring$/ }, () => ({
        path: './keyring.node',
        external: true,
      }));
    },
  };
  const { outputFiles } = await build({
    ...BUNDLE,
    entryPoints: [],
    stdin: { contents: ENTRY, resolveDir: fileURLToPath(ROOT) },
    plugins: [inside],
    minify: true,
    write: false,
    // esbuild hides this warning for a dependency, but treats the bundled dependencies as our own
    // code.
    logOverride: { 'suspicious-boolean-not': 'silent' },
  });
  return outputFiles[0].text;
}

const READ_NOTHING = ['dotenv', 'bunfig', 'tsconfig', 'package-json'];
const FLAGS = [
  'build',
  '--compile',
  '--bytecode',
  '--minify',
  '--format=cjs',
  // Compiles code later, since most runs end before compiled code pays off.
  '--compile-jit-policy=20',
  // Ends the options from BUN_OPTIONS, which could otherwise name a script to run first.
  '--compile-exec-argv=--',
  // Bun would otherwise read these files from the current folder, which others may control.
  ...READ_NOTHING.map((what) => `--no-compile-autoload-${what}`),
];

export function executableOf(target) {
  const name = target === HERE ? 'gpucloud' : `gpucloud-${target}`;
  return fileURLToPath(new URL(`dist/exe/${name}${isWindows(target) ? '.exe' : ''}`, ROOT));
}

/** Removes a signature that no longer fits (see mach-o.mjs). Only Intel Macs run unsigned files. */
function dropStaleSignature(path) {
  const file = readFileSync(path);
  if (signatureOf(file).stale > 0) writeFileSync(path, withoutSignature(file));
}

/**
 * Builds the executable of each target from one bundle.
 *
 * @param report called with the path of each finished executable.
 */
export async function buildExecutables(targets, report) {
  // Downloads the runtimes first, so that a wrong target fails before the build.
  for (const target of targets) runtimeFor(target);
  const folder = mkdtempSync(join(tmpdir(), 'gpucloud-build-'));
  function compile(target, ...flags) {
    copyFileSync(keyringFor(target), join(folder, 'keyring.node'));
    const runtime = `--compile-executable-path=${runtimeFor(target)}`;
    const how = [...FLAGS, `--target=bun-${target}`, runtime, ...flags];
    execFileSync(runtimeFor(HERE), [...how, '--outfile=built', 'gpucloud.cjs'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return join(folder, isWindows(target) ? 'built.exe' : 'built');
  }
  try {
    writeFileSync(join(folder, 'gpucloud.cjs'), await bundle());
    // Groups the bytecode needed at startup, so that startup reads fewer pages of the file.
    execFileSync(compile(HERE), ['--help'], {
      cwd: folder,
      env: { HOME: folder, BUN_BYTECODE_ORDER_OUT: join(folder, 'order') },
    });
    for (const target of targets) {
      const built = compile(target, '--bytecode-order=order');
      if (target.startsWith('darwin-')) dropStaleSignature(built);
      const outfile = executableOf(target);
      mkdirSync(join(outfile, '..'), { recursive: true });
      // Replaces the file by renaming, so that a concurrent run never reads half of it.
      copyFileSync(built, `${outfile}.new`);
      chmodSync(`${outfile}.new`, 0o755);
      renameSync(`${outfile}.new`, outfile);
      report(outfile);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { target: { type: 'string', default: HERE } } });
  await buildExecutables([values.target], (file) => {
    console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB`);
  });
}
