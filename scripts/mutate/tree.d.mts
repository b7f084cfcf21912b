import type { Fault } from './draw.mjs';

export function putIn(copy: string, faults: readonly Fault[]): () => void;
export function copyTree(root: string): string;
export function removeTree(copy: string): void;
