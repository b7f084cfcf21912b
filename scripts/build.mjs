// Builds the one bundle that bin/gpucloud.js starts.
// CommonJS, because Node starts it faster than a module; lazy `import()` calls stay lazy in it,
// since esbuild wraps each module in a function that runs at its first use.
import { readFileSync } from 'node:fs';
import { build } from 'esbuild';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

await build({
  absWorkingDir: new URL('..', import.meta.url).pathname,
  entryPoints: ['src/main.ts'],
  outfile: 'dist/gpucloud.cjs',
  bundle: true,
  platform: 'node',
  target: 'node20.18',
  format: 'cjs',
  minify: true,
  keepNames: false,
  legalComments: 'linked',
  logLevel: 'warning',
  define: { GPUCLOUD_VERSION: JSON.stringify(version) },
});
