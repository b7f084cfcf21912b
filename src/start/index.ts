import { fstatSync, realpathSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { folders, namedHome } from '../config/folders.ts';
import { type Bundle, readBundle } from './bundle.ts';
import { type KeptCode, keepCode, readCode, type Shelf } from './code-cache.ts';
import { type Part, runChunks } from './loader.ts';
import { chosenCommand, knownWords } from './words.ts';

// This is bin/gpucloud.js. It answers `--version` by itself, and otherwise runs the bundle that
// stands in dist/, with the compiled code that an earlier run left in the cache folder. Nothing
// else in src/ knows of it: `node dist/gpucloud.cjs` does the very same things, only later. How the
// code is kept, and what may never happen because of it, stands in code-cache.ts.

declare const GPUCLOUD_VERSION: string;

const VERSION = `gpucloud ${GPUCLOUD_VERSION}\n`;

function start(argv: readonly string[]): void {
  const [only, ...more] = argv;
  const asksVersion = more.length === 0 && (only === '--version' || only === '-V');
  if (asksVersion && attempt(sayVersion) === VERSION.length) return;
  try {
    run(argv);
  } catch (error) {
    // Nothing was done yet. What happens later, the program itself hears of and tells.
    if (argv.includes('--debug')) throw error;
    process.exitCode = 1;
    attempt(() => writeSync(2, brokenWords(error)));
  }
}

/** Node would print the line that threw, which is a page of what a bundler wrote. */
function brokenWords(error: unknown): string {
  // V8 quotes what it can't read, whatever that is.
  const why = (error instanceof Error ? error.message : String(error)).replace(/\p{Cc}+/gu, ' ');
  return `error: gpucloud can't be started, its files are incomplete or damaged: ${why}\nhint: install it again: npm install --global gpucloud\n`;
}

function run(argv: readonly string[]): void {
  const bundle = openBundle();
  const shelf = attempt(() => shelfOf(bundle, argv));
  const kept = shelf && attempt(() => readCode(shelf));
  const compiled = new Map<number, Script>();
  let refused = false;

  function compile(part: number): Part {
    const cachedData = kept?.code.get(part);
    const script = new Script(bundle.textOf(part), {
      filename: bundle.file,
      ...(cachedData === undefined ? {} : { cachedData }),
    });
    refused ||= script.cachedDataRejected === true;
    compiled.set(part, script);
    return script.runInThisContext();
  }
  if (shelf !== undefined) {
    const words = [...knownWords(argv), ...terminals()];
    // By then all work is done, and whatever it took to do it has been compiled.
    process.on('exit', (exitCode) => {
      const known = new Set(refused ? [] : kept?.words);
      if (exitCode === 0 && words.some((word) => !known.has(word))) {
        attempt(() => keepCode(shelf, together(words, compiled, refused ? undefined : kept)));
      }
    });
  }
  runChunks(bundle.table, compile, (id) => require(String(id)));
}

/**
 * npm links this file onto PATH. By its settings Node can be told not to follow that link, and what
 * stands beside the link is anyone's.
 */
function openBundle(): Bundle {
  const { env, execArgv } = process;
  const isAsked = env.NODE_PRESERVE_SYMLINKS_MAIN || env.NODE_OPTIONS || execArgv.length > 0;
  const folder = isAsked ? dirname(realpathSync(__filename)) : __dirname;
  return readBundle(join(folder, '..', 'dist', 'gpucloud.cjs'));
}

/** Answers the bytes that were written; what can't be written is for the program itself to tell. */
function sayVersion(): number {
  // At a limit to its size, a file would end this process by a signal.
  return fstatSync(1).isFile() ? 0 : writeSync(1, VERSION);
}

/** What was kept before, and what this run compiled. */
function together(
  words: readonly string[],
  compiled: ReadonlyMap<number, Script>,
  kept: KeptCode | undefined,
): KeptCode {
  const code = new Map(kept?.code);
  for (const [part, script] of compiled) code.set(part, script.createCachedData());
  return { words: [...new Set([...(kept?.words ?? []), ...words])], code };
}

/** Where the code of such a run is kept; undefined where none may be. */
function shelfOf(
  { name, file, size, mtimeMs }: Bundle,
  argv: readonly string[],
): Shelf | undefined {
  const { env, version, arch, platform, execArgv } = process;
  // As for the code cache of Node itself; and coverage is not counted in code from a cache.
  if (env.NODE_DISABLE_COMPILE_CACHE || env.NODE_V8_COVERAGE) return undefined;
  const home = namedHome(env, platform) ?? process.getBuiltinModule('node:os').homedir();
  const owner = process.geteuid?.();
  return {
    folder: join(folders(env, home, platform).cache, 'code'),
    bundle: name,
    runtime: `${version}-${arch}`,
    command: chosenCommand(argv),
    // Flags of V8 change what is compiled; time and size tell a bundle that was edited by hand.
    details: JSON.stringify([file, size, mtimeMs, env.NODE_OPTIONS ?? '', execArgv]),
    ...(owner === undefined ? {} : { owner }),
  };
}

/** Whether it writes to a terminal decides over colours and moving marks, so over what is loaded. */
function terminals(): string[] {
  return [1, 2].flatMap((fd) =>
    attempt(() => fstatSync(fd).isCharacterDevice()) === true ? [`terminal-${fd}`] : [],
  );
}

/** All works without the cache as it does with it, so what fails here is no one's concern. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

start(process.argv.slice(2));
