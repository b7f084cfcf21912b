import { brotliDecompressSync } from 'node:zlib';
import type { Tool } from './tools.ts';

declare const GPUCLOUD_TOOLS: string | undefined;
declare const GPUCLOUD_PAGES: string | undefined;

/** The tools and the pages of docs/, as scripts/mcp.mjs packs them. The source alone has neither. */
export const built = {
  tools: (): readonly Tool[] | undefined =>
    typeof GPUCLOUD_TOOLS === 'string' ? unpacked(GPUCLOUD_TOOLS) : undefined,
  pages: (): Readonly<Record<string, string>> =>
    typeof GPUCLOUD_PAGES === 'string' ? unpacked(GPUCLOUD_PAGES) : {},
};

function unpacked<T>(text: string): T {
  return JSON.parse(brotliDecompressSync(Buffer.from(text, 'base64')).toString('utf8'));
}
