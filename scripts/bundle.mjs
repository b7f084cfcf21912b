import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { trims } from './trims.mjs';

/** The project's folder. */
export const ROOT = new URL('..', import.meta.url);

/** @type {{version: string}} */
export const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));

/**
 * Bundles the program as CommonJS, which Node starts faster than modules. `import()` stays
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
  // src/start/bundle.ts reads it as ASCII.
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'warning',
  // A user who installs this package gets keys in the system keyring.
  external: ['@napi-rs/keyring', 'bun:ffi'],
  // An `import()` of a package outside the bundle becomes `require` too, without a module loader.
  supported: { 'dynamic-import': false },
  plugins: [trims],
  define: { GPUCLOUD_VERSION: JSON.stringify(version) },
};
