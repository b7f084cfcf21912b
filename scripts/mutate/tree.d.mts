import type { Fault } from './draw.mjs';

export function putIn(copy: string, faults: readonly Fault[]): () => void;
