// npm run build:exe writes dist/exe/gpucloud, one file with the program and its runtime.
//   --target linux-arm64    builds for another computer: dist/exe/gpucloud-linux-arm64
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
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
import { buildModules } from './modules.mjs';
import { HERE, keyringFor, runtimeFor } from './runtimes.mjs';

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

const { values } = parseArgs({ options: { target: { type: 'string', default: HERE } } });
const { target } = values;
const outfile = fileURLToPath(
  new URL(`dist/exe/gpucloud${target === HERE ? '' : `-${target}`}`, ROOT),
);
mkdirSync(join(outfile, '..'), { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'gpucloud-build-'));
try {
  const runtime = runtimeFor(target);
  writeFileSync(join(folder, 'gpucloud.cjs'), await bundle());
  copyFileSync(keyringFor(target), join(folder, 'keyring.node'));
  const compile = (...flags) =>
    execFileSync(runtimeFor(HERE), [...FLAGS, ...flags, '--outfile=gpucloud', 'gpucloud.cjs'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  compile();
  // What a run needs first lies together in the file, so that it reads fewer pages of it.
  execFileSync(join(folder, 'gpucloud'), ['--help'], {
    cwd: folder,
    env: { HOME: folder, BUN_BYTECODE_ORDER_OUT: join(folder, 'order') },
  });
  compile(`--compile-executable-path=${runtime}`, '--bytecode-order=order');
  // A run at the same time finds the old file or the new one.
  copyFileSync(join(folder, 'gpucloud'), `${outfile}.new`);
  renameSync(`${outfile}.new`, outfile);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${outfile}: ${(statSync(outfile).size / 1e6).toFixed(1)} MB`);
