/**
 * A chunk of the program, as scripts/parts.mjs writes it. `require` takes another chunk's number or
 * the name of a Node module. `define` receives the chunk's exports before the rest of it runs.
 */
export type Chunk = (require: Require, define: (exports: object) => void) => void;
type Require = (id: string) => unknown;

/** The exports of chunk 0: the names that each chunk exports. */
type Names = readonly (readonly string[])[];

/** Modules that take a millisecond or more to load, and that few commands need. */
const SLOW_MODULES = new Set([
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
]);

/**
 * Runs the program, which is chunk 1.
 *
 * @param chunkAt returns the function of a chunk.
 * @param node `require` outside of the bundle.
 */
export function runChunks(chunkAt: (id: number) => Chunk, node: Require): void {
  const exported: (object | undefined)[] = [];
  const imported = new Map<string, unknown>();

  function load(id: number): object | undefined {
    return exported[id] ?? run(id);
  }

  function run(id: number): object | undefined {
    const define = (exports: object) => {
      exported[id] = exports;
    };
    chunkAt(id)(requireOnce, define);
    return exported[id];
  }

  function requireOnce(id: string): unknown {
    const known = imported.get(id);
    if (known !== undefined) return known;
    const module = isChunk(id) ? facadeOf(Number(id)) : nodeModule(id, node);
    imported.set(id, module);
    return module;
  }

  /** Stands for a chunk until one of its names is used. */
  function facadeOf(id: number): object {
    const facade = { __esModule: true };
    for (const name of names[id] ?? []) {
      const get = () => Reflect.get(load(id) ?? {}, name);
      Object.defineProperty(facade, name, { get, enumerable: true });
    }
    return facade;
  }

  const names = load(0) as Names;
  load(1);
}

function isChunk(id: string): boolean {
  return /^\d/.test(id);
}

function nodeModule(id: string, node: Require): unknown {
  const name = id.replace(/^node:/, '');
  if (name === 'process') return processModule(node(id) as object);
  return SLOW_MODULES.has(name) ? lazily(() => node(id) as object) : node(id);
}

/**
 * For `import process from 'node:process'` esbuild copies every name of the module, and Bun opens the
 * standard streams when their names are read. Of this, only `default` is copied; the rest is inherited.
 */
function processModule(whole: object): object {
  return Object.create(whole, {
    __esModule: { value: true },
    default: { value: whole, enumerable: true },
  });
}

/**
 * A stand-in that loads its module at the first use of one of its names. The names are inherited, so
 * esbuild's code for `import fs from` and `import * as fs from` stays lazy too.
 */
function lazily(module: () => object): object {
  const names = {
    get: (_target: object, name: PropertyKey) =>
      name === '__esModule' ? undefined : Reflect.get(module(), name),
  };
  return Object.create(new Proxy({}, names));
}
