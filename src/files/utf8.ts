import { isUtf8 } from 'node:buffer';

/**
 * Decodes UTF-8 without a byte order mark; returns undefined for invalid bytes. A strict TextDecoder
 * does the same, but takes longer to create than such a text takes to read.
 */
export function textOfUtf8(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes)) return undefined;
  const text = bytes.toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
