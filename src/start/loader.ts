/**
 * What the bundle is made of: parts, each with its place in the text and its chunks, and of each
 * chunk the names that it exports, with a blank between them. See scripts/parts.mjs.
 */
export type Table = readonly (readonly [
  at: number,
  length: number,
  chunks: readonly (readonly [id: number, names: string])[],
])[];

/** A chunk as a function of CommonJS. */
export type Chunk = (exports: object, load: Load, module: { exports: object }) => void;
/** Takes the number of a chunk, or what `require` of Node takes. */
type Load = (id: number | string) => unknown;
/** The functions of one part. */
export type Part = Readonly<Record<number, Chunk>>;

type Space = Record<string, unknown>;

/**
 * Runs the first chunk. Another one runs when a name of it is first used, or at once when it has no
 * names and is there for what it does.
 *
 * @param partAt answers the functions of a part; it is asked once for each.
 * @param node what `require` means outside of the bundle.
 */
export function runChunks(table: Table, partAt: (index: number) => Part, node: Load): void {
  const chunks = new Map<number, { part: number; names: string }>();
  for (const [part, [, , all]] of table.entries()) {
    for (const [id, names] of all) chunks.set(id, { part, names });
  }
  const parts = new Map<number, Part>();
  const modules = new Map<number, { exports: object }>();
  const spaces = new Map<number, Space>();

  function run(id: number, part: number): object {
    const known = modules.get(id);
    if (known !== undefined) return known.exports;
    const functions = parts.get(part) ?? partAt(part);
    parts.set(part, functions);
    const module = { exports: {} };
    modules.set(id, module);
    try {
      functions[id]?.(module.exports, load, module);
    } catch (error) {
      modules.delete(id);
      throw error;
    }
    return module.exports;
  }

  function load(id: number | string): unknown {
    const chunk = typeof id === 'number' ? chunks.get(id) : undefined;
    if (typeof id === 'string' || chunk === undefined) return node(id);
    if (chunk.names === '') return run(id, chunk.part);
    const space = spaces.get(id) ?? spaceOf(id, chunk.part, chunk.names);
    spaces.set(id, space);
    return space;
  }

  function spaceOf(id: number, part: number, names: string): Space {
    const space: Space = Object.defineProperty({}, '__esModule', { value: true });
    for (const name of names.split(' ')) {
      const get = () => {
        const exports = run(id, part) as Space;
        // From now on the names are what they would be without the detour.
        for (const name of names.split(' ')) {
          const own = Object.getOwnPropertyDescriptor(exports, name);
          if (own !== undefined) Object.defineProperty(space, name, own);
        }
        return exports[name];
      };
      Object.defineProperty(space, name, { configurable: true, enumerable: true, get });
    }
    return space;
  }

  load(0);
}
