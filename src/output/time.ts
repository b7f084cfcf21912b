const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/** Milliseconds since 1970 of the service's ISO 8601 text; undefined when it is not one. */
export function instant(text: string): number | undefined {
  const time = ISO.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** `3 min ago`, `in 52 min`, `2 days ago`: whole units, rounded towards now. */
export function relative(time: number, now: number): string {
  const distance = Math.abs(time - now);
  if (distance < SECOND) return 'now';
  const words = span(distance);
  return time < now ? `${words} ago` : `in ${words}`;
}

function span(milliseconds: number): string {
  if (milliseconds < MINUTE) return `${Math.floor(milliseconds / SECOND)} s`;
  if (milliseconds < HOUR) return `${Math.floor(milliseconds / MINUTE)} min`;
  if (milliseconds < DAY) return `${Math.floor(milliseconds / HOUR)} h`;
  const days = Math.floor(milliseconds / DAY);
  return days === 1 ? '1 day' : `${days} days`;
}

/**
 * `2026-03-01 14:05:09 +03:00`: the computer's own time, in an order that nobody misreads. Written
 * by hand, since the first Intl formatter of a process costs 20 ms.
 */
export function local(time: number): string {
  const offset = -new Date(time).getTimezoneOffset();
  const ahead = Math.abs(offset);
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`;
  return `${localTime(time)} ${zone}`;
}

/** `2026-03-01 14:05:09`: the same, for many lines below each other. */
export function localTime(time: number): string {
  const date = new Date(time);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${clockTime(time)}`;
}

/** `14:05:09`: the computer's own time of day. */
export function clockTime(time: number): string {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
}

/** The same to the minute, for what is reckoned and not recorded. */
export function minuteText(time: number): string {
  return local(time).replace(/:\d\d (?=[+-])/, ' ');
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
