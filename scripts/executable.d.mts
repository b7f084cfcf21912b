export function executableOf(target: string): string;
