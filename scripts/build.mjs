// Builds the one bundle that bin/gpucloud.js starts.
// CommonJS, because Node starts it faster than a module; lazy `import()` calls stay lazy in it,
// since esbuild wraps each module in a function that runs at its first use.
import { readFileSync } from 'node:fs';
import { build } from 'esbuild';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/**
 * A part of conf sends each signal to the process a second time, which would make one Ctrl-C count
 * as two and drop a request whose answer the first Ctrl-C waits for. It cleans up temporary files,
 * which config/ does by itself.
 */
const noWhenExit = {
  name: 'no-when-exit',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^when-exit$/ }, () => ({ path: 'when-exit', namespace: 'stub' }));
    onLoad({ filter: /.*/, namespace: 'stub' }, () => ({
      contents: 'export default () => () => {};',
    }));
  },
};

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
  plugins: [noWhenExit],
  define: { GPUCLOUD_VERSION: JSON.stringify(version) },
});
