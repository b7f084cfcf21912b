/**
 * The name that the system, or Node, has for what went wrong: `ENOENT`, `EACCES`. undefined for an
 * error that no call of theirs made.
 */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** The same for a message that has room for a word or two. */
export function faultOf(error: unknown): string {
  return errorCode(error) ?? 'unknown reason';
}
