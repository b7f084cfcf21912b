/** The text of the bundle, and the names that each chunk exports, by its number. */
export function buildParts(): Promise<{ text: string; names: readonly (readonly string[])[] }>;
/** A chunk without its last statement, and the expression of each name that it exports. */
export function withoutExports(source: string): { body: string; values: Record<string, string> };
