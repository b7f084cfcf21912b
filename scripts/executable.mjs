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
  const inside = { modules, node: (id) => require(id), keyring: () => require('./src/keyring.ts') };
  start(inside, process.argv.slice(2));`;

/**
 * Bundles the program as one CommonJS file, in the same modules as the bundle for Node. esbuild bundles
 * everything before Bun reads it, since Bun would replace undici by its own.
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
    // esbuild ignores it in a dependency, but takes its bundle for our own code.
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
  // Most runs end before compiled code pays: a GET takes 8 ms less with it later.
  '--compile-jit-policy=20',
  // Ends the options of BUN_OPTIONS, which could otherwise name a script to run first.
  '--compile-exec-argv=--',
  // Bun would otherwise read these files from the current folder, which may be anyone's.
  ...READ_NOTHING.map((what) => `--no-compile-autoload-${what}`),
];

/** Returns the path of a target's executable. */
export function executableOf(target) {
  const name = target === HERE ? 'gpucloud' : `gpucloud-${target}`;
  return fileURLToPath(new URL(`dist/exe/${name}${isWindows(target) ? '.exe' : ''}`, ROOT));
}

/** See mach-o.mjs. Macs with other processors than Intel's run nothing without a signature. */
function dropStaleSignature(path) {
  const file = readFileSync(path);
  if (signatureOf(file).stale > 0) writeFileSync(path, withoutSignature(file));
}

/**
 * Builds the executable of each target from one bundle.
 *
 * @param report called with the path of each executable once it is there.
 */
export async function buildExecutables(targets, report) {
  // Downloads what is missing, or names a wrong target, before anything is built.
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
    // What a run needs first lies together in the file, so that it reads fewer pages of it.
    execFileSync(compile(HERE), ['--help'], {
      cwd: folder,
      env: { HOME: folder, BUN_BYTECODE_ORDER_OUT: join(folder, 'order') },
    });
    for (const target of targets) {
      const built = compile(target, '--bytecode-order=order');
      if (target.startsWith('darwin-')) dropStaleSignature(built);
      const outfile = executableOf(target);
      mkdirSync(join(outfile, '..'), { recursive: true });
      // A run at the same time finds the old file or the new one.
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
