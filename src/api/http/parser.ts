import { setFlagsFromString } from 'node:v8';

declare const WebAssembly: { readonly Module: new (code: Uint8Array<ArrayBuffer>) => object };

// Compiles undici's WebAssembly parser while the connection opens. undici compiles it at the first
// connection. V8 compiles the same code once per process, so undici finds it ready.

/**
 * V8 flags to turn off while compiling. With these defaults, V8 compiles functions when a response
 * arrives and optimizes them in the background. This takes 3 to 30 MiB, and Node 20 waits at exit
 * until the optimizer is done.
 */
const FLAGS = ['wasm-lazy-compilation', 'wasm-dynamic-tiering', 'wasm-tier-up'] as const;

/** Compiles undici's parser once; later calls do nothing. */
type CompileParser = () => void;

/**
 * @param nodeVersion as `v20.20.2`; undefined in the executable, whose runtime compiles the same
 * code again.
 * @param parserCode see parser-code.ts.
 */
export function parserCompiler(
  nodeVersion: string | undefined,
  parserCode: () => Uint8Array<ArrayBuffer> | undefined,
): CompileParser {
  if (nodeVersion === undefined) return () => undefined;
  const flags = nodeVersion.startsWith('v20.') ? FLAGS : [];
  /** Keeps a reference, since V8 drops unreferenced code. */
  let compiled: object | undefined;
  return () => {
    const code = compiled === undefined ? parserCode() : undefined;
    if (code === undefined) return;
    for (const flag of flags) setFlagsFromString(`--no-${flag}`);
    try {
      compiled = new WebAssembly.Module(code);
    } catch {
      // Without WebAssembly (--jitless) no request is possible; undici reports that.
    } finally {
      // Restores the defaults: with other flags, V8 rejects the cached code of Node and of this
      // program.
      for (const flag of flags) setFlagsFromString(`--${flag}`);
    }
  };
}
