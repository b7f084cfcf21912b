/** The text of the bundle, and of each chunk, by its number, the names that it exports. */
export function buildParts(): Promise<{ text: string; names: readonly (readonly string[])[] }>;
