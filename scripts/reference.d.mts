import type { Reference } from '../src/command-line/reference/index.ts';

export function referenceFiles(reference: Reference): Map<string, string>;
export function manPages(reference: Reference): string[];
