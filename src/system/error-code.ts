/**
 * Returns the code of a system or Node error (`ENOENT`, `EACCES`), or undefined for other errors.
 */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** Returns an error's code for messages, or a text if it has none. */
export function faultOf(error: unknown): string {
  return errorCode(error) ?? 'unknown reason';
}
