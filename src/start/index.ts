import { realpathSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { folders, namedHome } from '../config/folders.ts';
import { type Bundle, openBundle } from './bundle.ts';
import { type CodeCache, openCodeCache } from './code-cache.ts';
import { type Chunk, runChunks } from './loader.ts';
import { printedVersion } from './version.ts';

// Source of bin/gpucloud.js. It prints the version itself, and otherwise runs the bundle in dist/. No
// other file in src/ refers to it.

function start(argv: readonly string[]): void {
  if (printedVersion(argv)) return;
  try {
    run(argv);
  } catch (error) {
    // Nothing is done yet. The program reports its own errors.
    if (argv.includes('--debug')) throw error;
    process.exitCode = 1;
    writeSync(2, brokenMessage(error));
  }
}

/** Node would print the line that threw: a page of minified code. */
function brokenMessage(error: unknown): string {
  // V8 quotes unparseable text, control characters included.
  const why = (error instanceof Error ? error.message : String(error)).replace(/\p{Cc}+/gu, ' ');
  return `error: gpucloud can't start because its files are incomplete or damaged: ${why}\nhint: install it again: npm install --global gpucloud\n`;
}

function run(argv: readonly string[]): void {
  const bundle = openBundle(bundleFile());
  const cache = codeCacheFor(bundle, argv);
  const parts = new Map<number, readonly Chunk[]>();

  function chunksOf(part: number): readonly Chunk[] {
    const known = parts.get(part);
    if (known !== undefined) return known;
    const chunks = cache.compile(part, bundle.textOf(part)).runInThisContext();
    parts.set(part, chunks);
    return chunks;
  }
  function chunkAt(id: number): Chunk {
    const [part, index] = bundle.placeOf(id);
    const chunk = chunksOf(part)[index];
    if (chunk === undefined) throw new Error('a part is missing');
    return chunk;
  }
  // A CI job starts with an empty cache, so writing it would not pay off.
  if (!process.env.CI) process.on('exit', (code) => code === 0 && cache.save());
  runChunks(chunkAt, (id) => require(id));
}

/** npm links this file onto PATH, and some settings keep Node from following that link. */
function bundleFile(): string {
  const { env, execArgv } = process;
  const mayBeLink = env.NODE_PRESERVE_SYMLINKS_MAIN || env.NODE_OPTIONS || execArgv.length > 0;
  const folder = mayBeLink ? dirname(realpathSync(__filename)) : __dirname;
  return join(folder, '..', 'dist', 'gpucloud.cjs');
}

function codeCacheFor({ file, hash }: Bundle, argv: readonly string[]): CodeCache {
  const { version, arch } = process;
  const base = cacheFolder();
  const folder = base && join(base, 'code', `${hash}-${version}-${arch}`);
  const owner = process.geteuid?.();
  return openCodeCache({ folder, command: commandOf(argv), filename: file, owner });
}

/** undefined if code must not be stored, or there is no folder for it. */
function cacheFolder(): string | undefined {
  const { env, platform } = process;
  // As for Node's own code cache; V8 also counts no coverage in cached code.
  if (env.NODE_DISABLE_COMPILE_CACHE || env.NODE_V8_COVERAGE) return undefined;
  try {
    const home = namedHome(env, platform) ?? process.getBuiltinModule('node:os').homedir();
    return folders(env, home, platform).cache;
  } catch {
    return undefined;
  }
}

/** `instances-get`: the words before the first flag or value, at most two. */
function commandOf(argv: readonly string[]): string {
  const end = argv.findIndex((word) => !/^[a-z]+(?:-[a-z]+)*$/.test(word));
  return argv.slice(0, end < 0 ? 2 : Math.min(end, 2)).join('-') || 'gpucloud';
}

start(process.argv.slice(2));
