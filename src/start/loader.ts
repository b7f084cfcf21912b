/**
 * What the bundle is made of: parts, each with its place in the text and the number of its first
 * chunk. Chunks are numbered as they stand, from 0 on.
 */
export type Table = readonly (readonly [at: number, length: number, first: number])[];

/**
 * A chunk as a function; scripts/parts.mjs makes them. What it returns, if anything, is what it
 * exports in the place of `exports`.
 */
export type Chunk = (
  load: Load,
  exports: object,
  define: typeof defineNames,
  wrap: typeof asModule,
) => unknown;
/** What a chunk exports, by its number; or a module of Node. Runs the chunk at its first use. */
type Load = (id: number | string) => unknown;
/** The functions of one part. */
export type Part = readonly Chunk[];

/**
 * Runs the first chunk.
 *
 * @param partAt answers the functions of a part; it is asked once for each.
 * @param node what `require` means outside of the bundle.
 */
export function runChunks(table: Table, partAt: (index: number) => Part, node: Load): void {
  const parts: Part[] = [];
  const ran: unknown[] = [];
  const modules = new Map<string, unknown>();

  function load(id: number | string): unknown {
    return typeof id === 'number' ? (ran[id] ?? run(id)) : (modules.get(id) ?? open(id));
  }

  function run(id: number): unknown {
    const part = partOf(table, id);
    const functions = parts[part] ?? partAt(part);
    parts[part] = functions;
    const chunk = functions[id - firstOf(table, part)];
    if (chunk === undefined) throw new Error('the parts of the bundle are of another build');
    // Of chunks that need each other, one sees the other in the midst of its run.
    const exports = {};
    ran[id] = exports;
    try {
      ran[id] = chunk(load, exports, defineNames, asModule) ?? exports;
    } catch (error) {
      // The next use runs it again, rather than finding half of it.
      ran[id] = undefined;
      throw error;
    }
    return ran[id];
  }

  function open(id: string): unknown {
    const module = node(id);
    modules.set(id, module);
    return module;
  }

  load(0);
}

/** The usual commands need the first part alone, or nearly so. */
function partOf(table: Table, id: number): number {
  let part = 0;
  while (firstOf(table, part + 1) <= id) part += 1;
  return part;
}

function firstOf(table: Table, part: number): number {
  return table[part]?.[2] ?? Number.POSITIVE_INFINITY;
}

/** Names that stay alive: each is read anew. */
function defineNames(exports: object, names: Readonly<Record<string, () => unknown>>): void {
  for (const name in names) {
    Object.defineProperty(exports, name, { enumerable: true, get: names[name] as () => unknown });
  }
}

/** A module of CommonJS as one of ECMAScript sees it, whose default it is. */
function asModule(module: object, always?: unknown): object {
  const isTold = always === undefined && '__esModule' in module;
  return isTold ? module : Object.create(module, { default: { enumerable: true, value: module } });
}
