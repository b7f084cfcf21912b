import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { trims } from './trims.mjs';

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
  // src/start/bundle.ts reads the bundle as ASCII.
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'warning',
  // Not bundled: users install @napi-rs/keyring to store keys in the system keyring.
  external: ['@napi-rs/keyring'],
  // Also turns `import()` of an external package into `require`, which needs no module loader.
  supported: { 'dynamic-import': false },
  plugins: [trims],
  define: { GPUCLOUD_VERSION: JSON.stringify(version) },
};
