import { join } from 'node:path';
import { folders, namedHome } from '../config/folders.ts';
import { type Bundle, openBundle } from './bundle.ts';
import { type CodeCache, commandOf, openCodeCache } from './code-cache.ts';
import { type Body, runModules } from './modules.ts';

// Source of dist/start.cjs, for bin/gpucloud.js. No other file in src/ imports it.

/** Success, and SIGTERM, with which some agents end every session of `mcp`. */
const ENDS = [0, 143];

function start(argv: readonly string[]): void {
  const bundle = openBundle(join(__dirname, 'gpucloud.cjs'));
  const cache = codeCacheFor(bundle, argv);
  // A CI job starts with an empty cache, so writing the cache would not pay off.
  if (!process.env.CI) process.on('exit', (code) => ENDS.includes(code) && cache.save());
  runModules(
    (number): Body => cache.compile(number, bundle.textOf(number)).runInThisContext(),
    (id) => require(id),
  );
}

function codeCacheFor({ file, hash }: Bundle, argv: readonly string[]): CodeCache {
  const { version, arch } = process;
  const base = cacheFolder();
  const code = base && join(base, 'code', `${hash}-${version}-${arch}`, commandOf(argv));
  return openCodeCache(code, file, process.geteuid?.());
}

/** Returns undefined if code must not be stored, or if no folder can store the code. */
function cacheFolder(): string | undefined {
  const { env, platform } = process;
  // NODE_DISABLE_COMPILE_CACHE also disables Node's own code cache. V8 counts no coverage in cached
  // code.
  if (env.NODE_DISABLE_COMPILE_CACHE || env.NODE_V8_COVERAGE) return undefined;
  try {
    const home = namedHome(env, platform) ?? process.getBuiltinModule('node:os').homedir();
    return folders(env, home, platform).cache;
  } catch {
    return undefined;
  }
}

start(process.argv.slice(2));
