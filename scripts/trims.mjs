// Omits third-party code that this program never runs, so that startup neither reads nor compiles
// it. Calling a stub throws.
import { readFileSync } from 'node:fs';
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
    // conf sends each signal to the process again. One Ctrl-C would count as two, and would drop a
    // request instead of waiting for its response. conf does so to remove temporary files, which
    // src/config/ removes itself.
    filter: /^when-exit$/,
    is: 'export default () => () => {};',
  },
  // gpucloud gives conf its folder. This package fails for a user without a home folder.
  { filter: /^env-paths$/, of: /\/conf\//, is: `export default ${never('env-paths')};` },
  {
    // The program uses only undici's client and pool. These paths depend on its pinned version.
    filter: /^undici$/,
    of: /\/src\/api\//,
    is: `
      export { default as Client } from ${JSON.stringify(resolve('undici/lib/dispatcher/client.js'))};
      export { default as Pool } from ${JSON.stringify(resolve('undici/lib/dispatcher/pool.js'))};`,
  },
  // The client sets `allowH2` to false.
  {
    filter: /^\.\/client-h2\.js$/,
    of: /\/undici\//,
    is: `module.exports = ${never('HTTP/2')};`,
  },
  // Request bodies are strings, so undici never reads another type.
  {
    filter: /^\.\.\/web\/fetch\/body\.js$/,
    of: /\/undici\//,
    is: `module.exports = { extractBody: ${never('fetch')} };`,
  },
  // undici loads ten Node modules in this file, for a body class that the program never uses and
  // for one limit.
  {
    filter: /^node:http$/,
    of: /\/undici\//,
    is: 'module.exports = { IncomingMessage: class {}, maxHeaderSize: 16384 };',
  },
  {
    // The client uses only these two of the parser's tables.
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
    // undici contains its parser twice, with and without SIMD. The parser without SIMD is as fast.
    filter: /^\.\.\/llhttp\/llhttp_simd-wasm\.js$/,
    of: /\/undici\//,
    is: `throw new Error('one is enough');`,
  },
  // api/http/connect.ts opens the sockets instead.
  {
    filter: /^(?:\.|\.\.\/core)\/connect(?:\.js)?$/,
    of: /\/undici\//,
    is: `module.exports = ${never('a connector')};`,
  },
  {
    // Node's assert loads four more modules for messages that no user sees.
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
    // conf uses assert to compare values with defaults, which this program does not set.
    filter: /^node:assert$/,
    of: /\/conf\//,
    is: 'export default { deepEqual() {} };',
  },
  // The program uses no migrations of conf, and validates files with zod instead of ajv.
  { filter: /^semver$/, of: /\/conf\//, is: 'export default {};' },
  // The program passes a folder to conf and watches no files, so conf never calls these functions.
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
  // Bundles ssh2 for the sandbox's server, without ssh2's client and optional native parts.
  // package.json replaces cpu-features, which has no file to bundle until it is compiled.
  {
    filter: /^cpu-features$|sshcrypto\.node$/,
    of: /\/ssh2\//,
    is: `throw new Error('not built in');`,
  },
  // The sandbox's server offers no cipher that needs poly1305.
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
  // The server of `mcp` asks its client for no input, which the SDK would validate with ajv.
  {
    filter: /^\.\.\/validation\/ajv-provider\.js$/,
    of: /\/@modelcontextprotocol\//,
    is: 'export class AjvJsonSchemaValidator {}',
  },
  // The SDK supports zod 3 too, but its own schemas use zod 4.
  {
    filter: /^zod\/v3$/,
    of: /\/@modelcontextprotocol\//,
    is: `export const object = ${never('zod 3')};`,
  },
  // ora itself uses only these spinners.
  {
    filter: /^\.\/spinners\.json$/,
    of: /\/cli-spinners\//,
    is: `export default ${JSON.stringify({ dots, line })};`,
  },
  // The program never uses the editor prompt, which would include every character set.
  { filter: /^@inquirer\/editor$/, is: `export default ${never('the editor')};` },
];

/**
 * Lets esbuild drop the schemas of the SDK that nothing uses, and keeps zod from compiling the
 * others to code: the server checks too few messages to win that time back.
 *
 * @param {string} text
 */
function leanSchemas(text) {
  const each = /^((?:export )?const \w+Schema = )(.*?);(?=\n(?:export|const|\/))/gms;
  const pure = text.replace(each, '$1/* @__PURE__ */ (() => $2)();');
  return `z.config({ jitless: true });\n${pure}\nz.config({ jitless: false });`;
}

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
    onLoad({ filter: /@modelcontextprotocol.sdk.dist.esm.types\.js$/ }, ({ path }) => ({
      contents: leanSchemas(readFileSync(path, 'utf8')),
    }));
  },
};
