/** Declares the parts of Bun that src/platform/ uses. */
declare module 'bun:ffi' {
  export function dlopen<Name extends string>(
    library: string,
    functions: Record<Name, { args: readonly string[]; returns: string }>,
  ): { symbols: Record<Name, (...args: unknown[]) => number> };
}
