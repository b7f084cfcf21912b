// Modules of Node that are no part of its own start cost up to some milliseconds each. In the
// bundle they are loaded at the first use of a name of theirs, wherever the import stands, so that
// the source may import them at the top as usual. scripts/parts.mjs sees to its imports; what others
// require gets a stand-in here.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

export const SLOW = [
  'async_hooks',
  'child_process',
  'crypto',
  'dns',
  'fs/promises',
  'http',
  'https',
  'http2',
  'net',
  'os',
  'perf_hooks',
  'readline',
  'tls',
  'tty',
  'v8',
  'worker_threads',
  'zlib',
];

/** @type {import('esbuild').Plugin} */
export const lazyNode = {
  name: 'lazy-node',
  setup({ onResolve, onLoad }) {
    const filter = new RegExp(`^(node:)?(${SLOW.join('|')})$`);
    onResolve({ filter }, ({ path, namespace, kind }) =>
      namespace === 'lazy-node' || kind !== 'require-call'
        ? { path, external: true }
        : { path: path.replace(/^node:/, ''), namespace: 'lazy-node' },
    );
    onLoad({ filter: /.*/, namespace: 'lazy-node' }, ({ path }) => {
      const names = JSON.stringify(Object.keys(require(`node:${path}`)).join(' '));
      // One getter for each name: an import of a name is an access to it at its use.
      const contents = `
        for (const name of ${names}.split(' ')) {
          Object.defineProperty(exports, name, {
            enumerable: true,
            configurable: true,
            get: () => require('node:${path}')[name],
          });
        }`;
      return { contents, resolveDir: '/' };
    });
  },
};
