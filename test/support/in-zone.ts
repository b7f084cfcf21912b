import { local, localTime, minuteText } from '../../src/output/time.ts';

/**
 * Converts times in an expected text from UTC to the tests' time zone: `2026-01-15 12:00:00
 * +00:00`, `2026-01-15 12:00 +00:00`, and `2026-01-15 12:00:00` without an offset.
 */
export function inZone(text: string): string {
  return text.replace(
    /(\d{4}-\d\d-\d\d) (?:(\d\d:\d\d:\d\d)( \+00:00)?|(\d\d:\d\d) \+00:00)/g,
    (_time, day: string, clock?: string, offset?: string, minute?: string) => {
      const time = Date.parse(`${day}T${clock ?? minute}Z`);
      if (clock === undefined) return minuteText(time);
      return offset === undefined ? localTime(time) : local(time);
    },
  );
}
