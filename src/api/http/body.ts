import { isAscii, isUtf8 } from 'node:buffer';
import type { RawResponse } from '../contract.ts';

/** Largest body in bytes; reading stops beyond it. */
export const MOST_BYTES = 16 * 1024 * 1024;
/** Bytes kept of a body that is too large, since they may contain an ID to save. */
export const KEPT_BYTES = 64 * 1024;

export interface HttpResponse extends RawResponse {
  /** Why the text is not the service's complete response; completes "the response …". */
  problem?: string;
}

export type Head = Pick<HttpResponse, 'status' | 'headers'>;

export function flatHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    flat[name] = Array.isArray(value) ? value.join(', ') : (value ?? '');
  }
  return flat;
}

/** Decodes a body. A proxy may compress it although that was not requested. */
export async function decode(head: Head, bytes: Buffer): Promise<HttpResponse> {
  const packing = (head.headers['content-encoding'] ?? '').trim().toLowerCase();
  const isPacked = packing !== '' && packing !== 'identity' && bytes.length > 0;
  const plain = isPacked ? await unpack(packing, bytes) : bytes;
  if (plain === undefined) {
    return { ...head, text: '', problem: 'has an unexpected compression or is damaged' };
  }
  // Nearly every response is ASCII, which Node reads several times faster.
  if (isAscii(plain)) return { ...head, text: plain.toString('latin1') };
  const text = plain.toString('utf8').replace(/^\uFEFF/, '');
  return isUtf8(plain) ? { ...head, text } : { ...head, text, problem: 'is not UTF-8' };
}

async function unpack(packing: string, bytes: Buffer): Promise<Buffer | undefined> {
  const { brotliDecompressSync, gunzipSync, inflateSync } = await import('node:zlib');
  const bound = { maxOutputLength: MOST_BYTES };
  try {
    if (packing === 'gzip' || packing === 'x-gzip') return gunzipSync(bytes, bound);
    if (packing === 'deflate') return inflateSync(bytes, bound);
    if (packing === 'br') return brotliDecompressSync(bytes, bound);
  } catch {
    // Damaged, truncated or larger than the limit.
  }
  return undefined;
}
