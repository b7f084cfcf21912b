import type { BuildOptions } from 'esbuild';

export const ROOT: URL;
export const version: string;
export const BUNDLE: BuildOptions;
