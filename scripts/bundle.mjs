import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { trims } from './trims.mjs';

/** The folder of the project. */
export const ROOT = new URL('..', import.meta.url);

/** @type {{version: string}} */
export const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));

/**
 * How the program is bundled: as CommonJS, which Node starts faster than modules. `import()` stays
 * lazy in it.
 *
 * @satisfies {import('esbuild').BuildOptions}
 */
export const BUNDLE = {
  absWorkingDir: fileURLToPath(ROOT),
  entryPoints: ['src/main.ts'],
  bundle: true,
  platform: 'node',
  target: 'node20.18',
  format: 'cjs',
  // It is read as ASCII (src/start/bundle.ts).
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'warning',
  // Who installs it beside the program has its key kept in the system's keyring.
  external: ['@napi-rs/keyring', 'bun:ffi'],
  // `import()` of what is not in the bundle, too, becomes `require`: it needs no module loader.
  supported: { 'dynamic-import': false },
  plugins: [trims],
  define: { GPUCLOUD_VERSION: JSON.stringify(version) },
};
