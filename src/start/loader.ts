/** What the bundle is made of: parts, each with its place in the text and the numbers of its chunks. */
export type Table = readonly (readonly [at: number, length: number, chunks: readonly number[]])[];

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
export type Part = Readonly<Record<number, Chunk>>;

/**
 * Runs the first chunk.
 *
 * @param partAt answers the functions of a part; it is asked once for each.
 * @param node what `require` means outside of the bundle.
 */
export function runChunks(table: Table, partAt: (index: number) => Part, node: Load): void {
  const partOf: number[] = [];
  for (const [part, [, , chunks]] of table.entries()) {
    for (const id of chunks) partOf[id] = part;
  }
  const parts: Part[] = [];
  const ran: unknown[] = [];
  const modules = new Map<string, unknown>();

  function load(id: number | string): unknown {
    return typeof id === 'number' ? (ran[id] ?? run(id)) : (modules.get(id) ?? open(id));
  }

  function run(id: number): unknown {
    const part = partOf[id] ?? -1;
    const functions = parts[part] ?? partAt(part);
    parts[part] = functions;
    // Of chunks that need each other, one sees the other in the midst of its run.
    const exports = {};
    ran[id] = exports;
    try {
      ran[id] = functions[id]?.(load, exports, defineNames, asModule) ?? exports;
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
