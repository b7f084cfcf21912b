/**
 * How many lists and objects of a response may be nested. The documented ones have some six levels.
 * Masking secrets and writing JSON and YAML recurse, and Node's stack ends at some 1,500.
 */
export const DEEPEST = 500;

/** Completes "the response could not be understood: it …". */
export const TOO_DEEP = `is nested more than ${DEEPEST} levels deep`;

/** Whether a value of JSON is nested more than {@link DEEPEST} levels deep. */
export function isTooDeep(value: unknown, levels = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return inner.some((one) => isTooDeep(one, levels - 1));
}
