/**
 * Returns the code of a system or Node error: `ENOENT`, `EACCES`; undefined for other errors.
 */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** Returns the code for messages, or a text for errors without a code. */
export function faultOf(error: unknown): string {
  return errorCode(error) ?? 'unknown reason';
}
