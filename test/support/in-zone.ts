import { local, localTime } from '../../src/output/time.ts';

/**
 * Converts times in an expected text from UTC to the tests' time zone: `2026-01-15 12:00:00
 * +00:00`, and `2026-01-15 12:00:00` without an offset.
 */
export function inZone(text: string): string {
  return text.replace(
    /(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)( \+00:00)?/g,
    (_time, day: string, clock: string, offset?: string) => {
      const time = Date.parse(`${day}T${clock}Z`);
      return offset === undefined ? localTime(time) : local(time);
    },
  );
}
