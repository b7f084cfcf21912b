import type { Metafile } from 'esbuild';

export function buildModules(): Promise<{ modules: readonly string[]; metafile: Metafile }>;
export function bundleOf(modules: readonly string[]): string;
