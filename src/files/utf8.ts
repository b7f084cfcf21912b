import { isUtf8 } from 'node:buffer';

/**
 * The text of bytes in UTF-8, without a byte order mark; undefined for bytes that are none. It is what
 * a strict TextDecoder answers, which takes longer to be made than such a text to be read.
 */
export function textOfUtf8(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes)) return undefined;
  const text = bytes.toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
