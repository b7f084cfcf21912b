export function published(sums: ReadonlyMap<string, string>): Map<string, string>;
