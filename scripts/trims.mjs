// Parts of third-party code that this program never runs. The bundle omits them, so that no start
// reads or compiles them. A stub that is called throws.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { resolve } = require;
const { ERROR, TYPE } = require('undici/lib/llhttp/constants.js');
const { dots, line } = createRequire(resolve('cli-spinners'))('./spinners.json');

/** @param {string} what */
const never = (what) => `() => { throw new Error('${what} is not built in'); }`;

/**
 * `of` limits a trim to the imports of one package; `is` is the module's replacement.
 *
 * @type {readonly {filter: RegExp, of?: RegExp, is: string}[]}
 */
const TRIMS = [
  {
    // conf sends each signal to the process a second time, so one Ctrl-C would count as two and drop a
    // request whose response the first Ctrl-C waits for. conf does it to clean up temporary
    // files, which src/config/ does by itself.
    filter: /^when-exit$/,
    is: 'export default () => () => {};',
  },
  {
    // Only undici's client and its pool are used. Its version is pinned: these paths are its own.
    filter: /^undici$/,
    of: /\/src\/api\//,
    is: `
      export { default as Client } from ${JSON.stringify(resolve('undici/lib/dispatcher/client.js'))};
      export { default as Pool } from ${JSON.stringify(resolve('undici/lib/dispatcher/pool.js'))};`,
  },
  // Unused, since `allowH2` is false.
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
  // These load ten modules of Node for a class that no body has, and for a default limit.
  {
    filter: /^node:http$/,
    of: /\/undici\//,
    is: 'module.exports = { IncomingMessage: class {}, maxHeaderSize: 16384 };',
  },
  {
    // The client uses only this part of the tables behind its parser.
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
    // undici has its parser twice. What falls back to the other without SIMD does so at once, and
    // the difference can't be measured.
    filter: /^\.\.\/llhttp\/llhttp_simd-wasm\.js$/,
    of: /\/undici\//,
    is: `throw new Error('one is enough');`,
  },
  // api/http/connect.ts opens sockets.
  {
    filter: /^(?:\.|\.\.\/core)\/connect(?:\.js)?$/,
    of: /\/undici\//,
    is: `module.exports = ${never('a connector')};`,
  },
  {
    // Node's own version loads four modules more, for messages that nobody reads.
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
    // conf compares what it read with defaults, and there are none.
    filter: /^node:assert$/,
    of: /\/conf\//,
    is: 'export default { deepEqual() {} };',
  },
  // conf migrates files and checks them with ajv on request. zod checks them here.
  { filter: /^semver$/, of: /\/conf\//, is: 'export default {};' },
  // conf gets a folder, and watches nothing.
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
  // The sandbox's SSH server is ssh2 without its native parts, which it can do without, and without
  // its client. package.json replaces cpu-features, which has no file to bundle until it is compiled.
  {
    filter: /^cpu-features$|sshcrypto\.node$/,
    of: /\/ssh2\//,
    is: `throw new Error('not built in');`,
  },
  // The server offers no cipher that needs it.
  {
    filter: /^\.\/crypto\/poly1305\.js$/,
    of: /\/ssh2\//,
    is: `module.exports = async () => ({ _malloc() {}, cwrap() {} });`,
  },
  {
    filter: /^\.\/(?:client|http-agents|agent)\.js$/,
    of: /\/ssh2\//,
    is: 'module.exports = {};',
  },
  // The spinners that ora itself names.
  {
    filter: /^\.\/spinners\.json$/,
    of: /\/cli-spinners\//,
    is: `export default ${JSON.stringify({ dots, line })};`,
  },
  // A question that opens an editor includes every character set.
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
