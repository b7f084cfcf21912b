/**
 * A Retry-After header as milliseconds from now: whole seconds or an HTTP date, one that has gone
 * by being 0. Undefined when there is none or it can't be read.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1000;
  // `Date.parse` also takes much that is no HTTP date, such as `1` or `-5`.
  if (!/^[A-Z][a-z]+, /.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
