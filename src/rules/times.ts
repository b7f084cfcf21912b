import { broken, kept, type Rule, type Verdict } from './rule.ts';

const MILLISECONDS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Parses a duration as people write it, into milliseconds: `500ms`, `15m`, `1h30m`, `3d`. */
export function duration(text: string): Verdict<number> {
  if (!/^([0-9]{1,9}(ms|s|m|h|d))+$/.test(text)) {
    return broken('must be whole numbers with units, such as 500ms, 30s, 15m, 1h30m or 3d');
  }
  const parts = [...text.matchAll(/([0-9]+)([a-z]+)/g)];
  return kept(
    parts.reduce(
      (sum, [, count, unit = '']) => sum + Number(count) * Number(MILLISECONDS[unit]),
      0,
    ),
  );
}

/** Formats a duration as people type it, in its largest whole unit. */
export function durationWord(milliseconds: number): string {
  if (milliseconds === 0) return '0s';
  const units = Object.entries(MILLISECONDS).reverse();
  const [unit, length] = units.find(([, length]) => milliseconds % length === 0) ?? ['ms', 1];
  return `${milliseconds / length}${unit}`;
}

/** Checks a duration that may not be zero, for deadlines and intervals. */
export function positiveDuration(text: string): Verdict<number> {
  const verdict = duration(text);
  return verdict.ok && verdict.value === 0 ? broken('must be longer than zero') : verdict;
}

/** A year. A longer time until an end is probably a typo. */
export const LONGEST_MS = 366 * 86_400_000;

/** Checks how long something lasts that ends by itself. */
export function lifetime(text: string): Verdict<number> {
  const verdict = positiveDuration(text);
  return verdict.ok && verdict.value > LONGEST_MS ? broken('must be at most 366d') : verdict;
}

/**
 * Minimum idle time. In a shorter pause, a person may be thinking, or a download may be about to
 * start.
 */
const SHORTEST_IDLE_MS = 10 * 60_000;

export function idleTime(text: string): Verdict<number> {
  const verdict = duration(text);
  return verdict.ok && verdict.value < SHORTEST_IDLE_MS ? broken('must be at least 10m') : verdict;
}

/**
 * Parses the interval at which a scheduler repeats a command. Every supported scheduler can repeat
 * at these intervals.
 */
export function schedule(text: string): Verdict<number> {
  const verdict = duration(text);
  const minutes = verdict.ok ? verdict.value / 60_000 : 0;
  return Number.isInteger(minutes) && minutes >= 1 && minutes < 60
    ? verdict
    : broken('must be a whole number of minutes from 1m to 59m');
}

/** Minimum pause between two reads of one resource, since rate limits are not documented. */
const SHORTEST_POLL_MS = 500;

export function pollInterval(text: string): Verdict<number> {
  const verdict = duration(text);
  return verdict.ok && verdict.value < SHORTEST_POLL_MS
    ? broken(`the shortest interval is ${SHORTEST_POLL_MS}ms`)
    : verdict;
}

/** A typed point in time: absolute or relative. */
export type Moment =
  /** Milliseconds since 1970. */
  | { readonly at: number }
  /** Milliseconds before now. */
  | { readonly ago: number };

const FORM =
  'must be a date (2026-01-31), a time (2026-01-31T18:00, with Z or +03:00 for a zone), or an age (7d)';

const TIME =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?(?: ?(Z|[+-]\d\d:\d\d))?)?$/;

/** Parses a start: a date means its first moment in this computer's time zone. */
export const since: Rule<Moment> = (text) => momentOf(text, 0);

/** Parses an exclusive end: a date includes its whole day. */
export const until: Rule<Moment> = (text) => momentOf(text, 1);

const MOMENT =
  'must be a time of day, such as 18:00 or "fri 18:00", or a date with a time of day, such as 2026-01-31T18:00, with Z or +03:00 for a zone';

/** In the order of `Date.getDay`. */
const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/**
 * Milliseconds since 1970, or a time of day, perhaps of a weekday, which means its next occurrence
 * in this computer's time zone.
 */
export type ComingTime =
  | number
  | { readonly hour: number; readonly minute: number; readonly weekday?: number };

/** Rejects a date without a time, since its hour is ambiguous. */
export const moment: Rule<ComingTime> = (text) => {
  const [, day, hour, minute] = /^(?:([a-z]{3,}) +)?([01]?\d|2[0-3]):([0-5]\d)$/i.exec(text) ?? [];
  const weekday = DAYS.findIndex((name) => name.startsWith(day?.toLowerCase() ?? ' '));
  if (hour !== undefined && (day === undefined || weekday !== -1)) {
    const time = { hour: Number(hour), minute: Number(minute) };
    return kept(day === undefined ? time : { ...time, weekday });
  }
  const verdict = momentOf(text, 0);
  const isExact = verdict.ok && 'at' in verdict.value && text.includes(':');
  return isExact ? kept(verdict.value.at) : broken(MOMENT);
};

/** Returns milliseconds since 1970. */
export function comingAt(time: ComingTime, now: number): number {
  if (typeof time === 'number') return time;
  const day = new Date(now);
  const at = (daysOn: number) =>
    new Date(
      day.getFullYear(),
      day.getMonth(),
      day.getDate() + daysOn,
      time.hour,
      time.minute,
    ).getTime();
  const { weekday } = time;
  const first = weekday === undefined ? 0 : (weekday - day.getDay() + 7) % 7;
  const next = first + (weekday === undefined ? 1 : 7);
  return at(first) > now ? at(first) : at(next);
}

/** Formats a time as `18:00` or `fri 18:00`, or in ISO 8601. */
export function comingWord(time: ComingTime): string {
  if (typeof time === 'number') return new Date(time).toISOString();
  const two = (number: number) => String(number).padStart(2, '0');
  const day = time.weekday === undefined ? '' : `${DAYS[time.weekday]?.slice(0, 3)} `;
  return `${day}${two(time.hour)}:${two(time.minute)}`;
}

/** Returns milliseconds since 1970. */
export function timeOf(moment: Moment, now: number): number {
  return 'at' in moment ? moment.at : now - moment.ago;
}

function momentOf(text: string, daysOn: number): Verdict<Moment> {
  const back = duration(text);
  if (back.ok) return kept({ ago: back.value });
  const match = TIME.exec(text);
  if (match === null) return broken(FORM);
  const [, year, month, day, hour, minute, second, fraction, zone] = match;
  const [y, mo, d] = [Number(year), Number(month), Number(day)];
  if (mo < 1 || mo > 12 || d < 1 || d > new Date(Date.UTC(y, mo, 0)).getUTCDate()) {
    return broken('there is no such day');
  }
  if (hour === undefined) return kept({ at: new Date(y, mo - 1, d + daysOn).getTime() });
  const clock = [Number(hour), Number(minute), Number(second ?? 0)] as const;
  if (clock[0] > 23 || clock[1] > 59 || clock[2] > 59) {
    return broken('there is no such time of day');
  }
  const thousandths = Number((fraction ?? '').padEnd(3, '0'));
  return kept({
    at:
      zone === undefined
        ? new Date(y, mo - 1, d, ...clock, thousandths).getTime()
        : Date.UTC(y, mo - 1, d, ...clock, thousandths) - offset(zone),
  });
}

function offset(zone: string): number {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}
