// Builds the one bundle that bin/gpucloud.js starts.
// CommonJS, because Node starts it faster than a module; lazy `import()` calls stay lazy in it,
// since esbuild wraps each module in a function that runs at its first use.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
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

const root = new URL('..', import.meta.url);

/** The licences of what is in the bundle, which must travel with it. */
function licencesOf(inputs) {
  const parts = new Set();
  for (const input of Object.keys(inputs)) {
    const part = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (part !== null) parts.add(part[0].slice(0, -1));
  }
  return [...parts].sort().map((folder) => {
    const at = new URL(`${folder}/`, root);
    const { name, version, license } = JSON.parse(
      readFileSync(new URL('package.json', at), 'utf8'),
    );
    const file = readdirSync(at).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
    const text = file === undefined ? '' : readFileSync(new URL(file, at), 'utf8').trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
}

const { metafile } = await build({
  absWorkingDir: root.pathname,
  metafile: true,
  entryPoints: ['src/main.ts'],
  outfile: 'dist/gpucloud.cjs',
  bundle: true,
  platform: 'node',
  target: 'node20.18',
  format: 'cjs',
  minify: true,
  keepNames: false,
  legalComments: 'none',
  logLevel: 'warning',
  plugins: [noWhenExit],
  define: { GPUCLOUD_VERSION: JSON.stringify(version) },
});

writeFileSync(
  new URL('dist/THIRD-PARTY-LICENSES.txt', root),
  `gpucloud contains these parts.\n\n${licencesOf(metafile.inputs).join(`\n${'-'.repeat(72)}\n\n`)}`,
);
