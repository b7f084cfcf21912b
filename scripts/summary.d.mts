export const ERRORS: string;
export function skipsLine(lacks: readonly string[]): string;
