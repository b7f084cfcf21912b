export const HERE: string;
export const TARGET_NAMES: readonly string[];
export function runtimeFor(target: string): string;
