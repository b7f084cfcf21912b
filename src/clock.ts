/** Time and chance, given by the edge so that no test sleeps or rolls dice. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number;
  /** Waits; rejects with the signal's reason as soon as it is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** At least 0, below 1, as `Math.random()`. */
  random(): number;
}

/**
 * What `toISOString` of a Date answers, which V8 takes two tenths of a millisecond for, the first
 * time. Throws RangeError for what is no time.
 */
export function isoTime(milliseconds: number): string {
  const date = new Date(milliseconds);
  const year = date.getUTCFullYear();
  if (!(year >= 1000 && year <= 9999)) return date.toISOString();
  const day = `${year}-${digits(date.getUTCMonth() + 1, 2)}-${digits(date.getUTCDate(), 2)}`;
  const minute = `${digits(date.getUTCHours(), 2)}:${digits(date.getUTCMinutes(), 2)}`;
  const second = `${digits(date.getUTCSeconds(), 2)}.${digits(date.getUTCMilliseconds(), 3)}`;
  return `${day}T${minute}:${second}Z`;
}

function digits(number: number, length: number): string {
  return `${number}`.padStart(length, '0');
}
