/** The text of the bundle, and the exported names of each chunk, by number. */
export function buildParts(): Promise<{ text: string; names: readonly (readonly string[])[] }>;
/** A chunk without its last statement, and the expression of each exported name. */
export function withoutExports(source: string): { body: string; values: Record<string, string> };
