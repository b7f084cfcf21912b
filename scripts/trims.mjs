// What third-party parts bring along and this program never runs: left out of the bundle, so that
// it is neither read nor compiled at each start. A stub that is called after all says so loudly.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { resolve } = require;
const { ERROR, TYPE } = require('undici/lib/llhttp/constants.js');

/** @param {string} what */
const never = (what) => `() => { throw new Error('${what} is not built in'); }`;

/**
 * `of` limits a trim to what one part imports; `is` is the source of the module in its place.
 *
 * @type {readonly {filter: RegExp, of?: RegExp, is: string}[]}
 */
const TRIMS = [
  {
    // A part of conf sends each signal to the process a second time, which would make one Ctrl-C
    // count as two and drop a request whose answer the first Ctrl-C waits for. It cleans up
    // temporary files, which config/ does by itself.
    filter: /^when-exit$/,
    is: 'export default () => () => {};',
  },
  {
    // Of undici, the client and its pool are used. Its version is pinned: these are its own paths.
    filter: /^undici$/,
    of: /\/src\/api\//,
    is: `
      export { default as Client } from ${JSON.stringify(resolve('undici/lib/dispatcher/client.js'))};
      export { default as Pool } from ${JSON.stringify(resolve('undici/lib/dispatcher/pool.js'))};`,
  },
  // Never asked for, since `allowH2` is false.
  {
    filter: /^\.\/client-h2\.js$/,
    of: /\/undici\//,
    is: `module.exports = ${never('HTTP/2')};`,
  },
  // Bodies are strings.
  {
    filter: /^\.\.\/web\/fetch\/body\.js$/,
    of: /\/undici\//,
    is: `module.exports = { extractBody: ${never('fetch')} };`,
  },
  // Ten modules of Node for a class that no body is of, and for the usual limit of a head.
  {
    filter: /^node:http$/,
    of: /\/undici\//,
    is: 'module.exports = { IncomingMessage: class {}, maxHeaderSize: 16384 };',
  },
  {
    // Of the tables that its parser was generated from, what the client looks at.
    filter: /^\.\.\/llhttp\/constants\.js$/,
    of: /\/undici\//,
    is: `module.exports = ${JSON.stringify({ ERROR, TYPE })};`,
  },
  {
    filter: /^\.\/parser-code\.ts$/,
    of: /\/src\/api\//,
    is: `exports.parserCode = () => require(${JSON.stringify(resolve('undici/lib/llhttp/llhttp-wasm.js'))});`,
  },
  {
    // The parser is there twice. What falls back to the other without SIMD does so at once, and
    // the difference can't be measured.
    filter: /^\.\.\/llhttp\/llhttp_simd-wasm\.js$/,
    of: /\/undici\//,
    is: `throw new Error('one is enough');`,
  },
  // Sockets are opened by api/http/connect.ts.
  {
    filter: /^(?:\.|\.\.\/core)\/connect(?:\.js)?$/,
    of: /\/undici\//,
    is: `module.exports = ${never('a connector')};`,
  },
  {
    // Node's own loads four modules more, for messages that no one reads.
    filter: /^node:assert$/,
    of: /\/undici\//,
    is: `
      module.exports = (value, message) => {
        if (value) return;
        if (message instanceof Error) throw message;
        throw Object.assign(new Error(message ?? 'a part of undici is at fault'), {
          code: 'ERR_ASSERTION',
        });
      };`,
  },
  {
    // conf compares what it has read with defaults, of which there are none.
    filter: /^node:assert$/,
    of: /\/conf\//,
    is: 'export default { deepEqual() {} };',
  },
  // It migrates files and checks them with ajv, if it is asked to. zod checks ours.
  { filter: /^semver$/, of: /\/conf\//, is: 'export default {};' },
  // It is given a folder, and watches nothing.
  {
    filter: /^(?:env-paths|debounce-fn)$/,
    of: /\/conf\//,
    is: `export default ${never('a part of conf')};`,
  },
  {
    filter: /^ajv\/dist\/2020\.js$/,
    of: /\/conf\//,
    is: `export class Ajv2020 { constructor() { (${never('ajv')})(); } }`,
  },
  { filter: /^ajv-formats$/, of: /\/conf\//, is: `export default { default: ${never('ajv')} };` },
  // A question that opens an editor brings the character sets of the whole world.
  { filter: /^@inquirer\/editor$/, is: `export default ${never('the editor')};` },
];

/** @type {import('esbuild').Plugin} */
export const trims = {
  name: 'trims',
  setup({ onResolve, onLoad }) {
    for (const [at, { filter, of }] of TRIMS.entries()) {
      onResolve({ filter }, ({ importer }) =>
        of === undefined || of.test(importer.replaceAll('\\', '/'))
          ? { path: String(at), namespace: 'trim' }
          : undefined,
      );
    }
    onLoad({ filter: /.*/, namespace: 'trim' }, ({ path }) => ({
      contents: TRIMS[Number(path)]?.is ?? '',
      resolveDir: '/',
    }));
  },
};
