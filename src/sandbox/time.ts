/** Milliseconds. All times of the sandbox are milliseconds since 1970 on its virtual clock. */
export const SECOND = 1000;
export const HOUR = 3600 * SECOND;
export const DAY = 24 * HOUR;

/** A time as the service writes it (spec: Conventions): ISO 8601. */
export function iso(at: number): string {
  return new Date(at).toISOString();
}

export function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at);
}
