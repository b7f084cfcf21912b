import { parserCode } from './parser-code.ts';

declare const WebAssembly: { readonly Module: new (code: Uint8Array<ArrayBuffer>) => object };

// undici reads answers with a parser of WebAssembly, which it compiles when it gets its first
// connection. Here that is done earlier, while the connection is on its way: V8 compiles the same
// code once for a process, and undici finds it done.

/** Flags of V8 that are on by default. */
const FLAGS = ['wasm-lazy-compilation', 'wasm-dynamic-tiering', 'wasm-tier-up'] as const;

/** Has undici's parser compiled; what is called again does nothing. */
export type CompileParser = () => void;

/** @param nodeVersion as `v20.20.2`. */
export async function parserCompiler(nodeVersion: string | undefined): Promise<CompileParser> {
  const isSpared = nodeVersion !== undefined && /^v(?:[0-9]|1[0-9]|20|21)\./.test(nodeVersion);
  const flags = isSpared ? (await import('node:v8')).setFlagsFromString : undefined;
  /** V8 forgets code of which nothing is left. */
  let compiled: object | undefined;
  return () => {
    const code = compiled === undefined ? parserCode() : undefined;
    if (code === undefined) return;
    if (flags !== undefined) for (const flag of FLAGS) flags(`--no-${flag}`);
    try {
      compiled = new WebAssembly.Module(code);
    } catch {
      // Without WebAssembly (--jitless) there is no request; undici tells so.
    } finally {
      // The defaults again: under other flags V8 refuses the code that Node has of its own modules,
      // and what was kept of this program.
      if (flags !== undefined) for (const flag of FLAGS) flags(`--${flag}`);
    }
  };
}
