/** A module of gpucloud, as scripts/modules.mjs writes it. */
export type Body = (require: Require, define: (exports: Exports) => void) => void;
type Require = (id: string) => unknown;
type Exports = Readonly<Record<PropertyKey, unknown>>;

/** Modules that load slowly. Few commands use them. */
const SLOW = new Set(['child_process', 'http2']);

const IS_NUMBER = /^\d/;
const IS_LATE = /^(?:\d|node:)/;

/**
 * Runs gpucloud (module 0). Loads every other module, and each `node:` module, when one of its
 * names is first used. A package that requires a Node module receives it at once. The module may be
 * a class, or the package may list its names.
 *
 * @param node `require` outside of the bundle.
 */
export function runModules(bodyOf: (number: number) => Body, node: Require): void {
  const faces = new Map<string, object>();

  /** Returns a stand-in that loads the module when one of its names is used. */
  function faceOf(id: string): object {
    const known = faces.get(id);
    if (known !== undefined) return known;
    let exports: Exports | undefined;
    const get = (_target: object, name: PropertyKey) => {
      if (name === '__esModule') return true;
      exports ??= load(id, face);
      return name === 'default' && exports.__esModule !== true ? exports : exports[name];
    };
    // Inherit the names: for `import * as`, esbuild copies a module's own names, which would load
    // it.
    const face: object = Object.create(new Proxy({}, { get }));
    faces.set(id, face);
    return face;
  }

  function load(id: string, face: object): Exports {
    if (!IS_NUMBER.test(id)) return node(id) as Exports;
    const exports = run(Number(id));
    // From now on, names are found without the proxy.
    Object.setPrototypeOf(face, exports);
    return exports;
  }

  function run(number: number): Exports {
    let defined: Exports = {};
    bodyOf(number)(requireFace, (exports) => {
      defined = exports;
    });
    return defined;
  }

  function requireFace(id: string): unknown {
    return IS_LATE.test(id) || SLOW.has(id) ? faceOf(id) : node(id);
  }

  run(0);
}
