export function nearestTests(root: string): (source: string) => string[];
