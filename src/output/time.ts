const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;
const ZONE = /(?:Z|[+-]\d\d:?\d\d)/i;

/**
 * Parses the service's ISO 8601 text to milliseconds since 1970; undefined for any other text. A
 * text without a time zone is UTC: the service doesn't know this computer's zone.
 */
export function instant(text: string | null | undefined): number | undefined {
  if (text == null || !ISO.test(text)) return undefined;
  const time = Date.parse(ZONE.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? undefined : time;
}

/** Formats how long ago a stored time was: `3 min ago`, or `once` if it is unreadable. */
export function ago(time: string, now: number): string {
  const then = instant(time);
  return then === undefined ? 'once' : relative(then, now);
}

/**
 * Formats a distance from now, rounded towards now: `3 min ago`, `2 days ago`, `in 5 h 59 min`. A
 * deadline has two units, since a whole hour costs money.
 */
export function relative(time: number, now: number): string {
  const seconds = Math.abs(time - now) / 1000;
  if (seconds < 1) return 'now';
  return time < now ? `${oneUnit(seconds)} ago` : `in ${spanText(seconds)}`;
}

function oneUnit(seconds: number): string {
  if (seconds < MINUTE) return `${Math.floor(seconds)} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h`;
  return dayText(Math.floor(seconds / DAY));
}

function dayText(days: number): string {
  return days === 1 ? '1 day' : `${days} days`;
}

/**
 * Formats local time in an unambiguous order: `2026-03-01 14:05:09 +03:00`. Doesn't use Intl:
 * creating a process's first formatter is slow.
 */
export function local(time: number): string {
  const offset = -new Date(time).getTimezoneOffset();
  const ahead = Math.abs(offset);
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`;
  return `${localTime(time)} ${zone}`;
}

/** Formats local time for logs: `2026-03-01 14:05:09`. */
export function localTime(time: number): string {
  const date = new Date(time);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${clockTime(time)}`;
}

/** Formats the local time of day: `14:05:09`. */
export function clockTime(time: number): string {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
}

/** Formats local time to the minute, for computed times. */
export function minuteText(time: number): string {
  return local(time).replace(/:\d\d (?=[+-])/, ' ');
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** Formats milliseconds in whole seconds, rounded up: `3 s`. */
export function inSeconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 1000)} s`;
}

/**
 * Formats a duration in its two largest units, rounded down: `4 days 20 h`, `3 h 12 min`, `38 s`.
 */
export function spanText(seconds: number): string {
  if (seconds < HOUR) return oneUnit(seconds);
  if (seconds < DAY) {
    const minutes = Math.floor((seconds % HOUR) / MINUTE);
    const whole = `${Math.floor(seconds / HOUR)} h`;
    return minutes === 0 ? whole : `${whole} ${minutes} min`;
  }
  if (seconds >= 100 * YEAR) return 'more than 100 years';
  if (seconds >= 2 * YEAR) return `${Math.floor(seconds / YEAR)} years`;
  const days = Math.floor(seconds / DAY);
  const hours = Math.floor((seconds % DAY) / HOUR);
  const words = dayText(days);
  return hours === 0 || days >= 30 ? words : `${words} ${hours} h`;
}
