import { setFlagsFromString } from 'node:v8';
import { parserCode } from './parser-code.ts';

declare const WebAssembly: { readonly Module: new (code: Uint8Array<ArrayBuffer>) => object };

// undici reads responses with a parser of WebAssembly, which it compiles when it gets its first
// connection. Here that is done earlier, while the connection is on its way: V8 compiles the same
// code once for a process, and undici finds it done.

/**
 * Flags of V8 that are on by default. With them each function is compiled at its first use, when the
 * response is there, and is optimised in the background: that takes 3 to 30 MiB for what is a hundredth
 * of the work of a program that reads thousands of responses, and the exit of Node 20 waits for it, for
 * 100 ms and more. Both are decided when a function is compiled; so all are compiled at once.
 */
const FLAGS = ['wasm-lazy-compilation', 'wasm-dynamic-tiering', 'wasm-tier-up'] as const;

/** Has undici's parser compiled. Called again it does nothing. */
type CompileParser = () => void;

/** @param nodeVersion as `v20.20.2`. */
export function parserCompiler(nodeVersion: string | undefined): CompileParser {
  const flags = nodeVersion?.startsWith('v20.') ? FLAGS : [];
  /** V8 forgets code of which nothing is left. */
  let compiled: object | undefined;
  return () => {
    const code = compiled === undefined ? parserCode() : undefined;
    if (code === undefined) return;
    for (const flag of flags) setFlagsFromString(`--no-${flag}`);
    try {
      compiled = new WebAssembly.Module(code);
    } catch {
      // Without WebAssembly (--jitless) there is no request; undici tells so.
    } finally {
      // The defaults again: under other flags V8 refuses the code that Node has of its own modules,
      // and what was kept of this program.
      for (const flag of flags) setFlagsFromString(`--${flag}`);
    }
  };
}
