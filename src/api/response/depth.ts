/**
 * Maximum nesting of lists and objects in a response. Documented ones have about six levels. Masking
 * secrets and writing JSON and YAML recurse, and Node's stack overflows at about 1,500.
 */
export const DEEPEST = 500;

/** Completes "could not be read: the response …". */
export const TOO_DEEP = `is nested more than ${DEEPEST} levels deep`;

/** Whether a JSON value is nested more than {@link DEEPEST} levels deep. */
export function isTooDeep(value: unknown, levels = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return inner.some((one) => isTooDeep(one, levels - 1));
}
