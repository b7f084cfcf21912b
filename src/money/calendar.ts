/** Calendar periods in the local time zone. Weeks start on Monday. */
export const STEPS = ['day', 'week', 'month'] as const;
export type Step = (typeof STEPS)[number];

/**
 * Returns the start of the period that contains a moment, in milliseconds since 1970. `steps` moves
 * it by that many periods, back if negative. A day has 23 or 25 hours when the clock changes; if the
 * clock skips midnight, the day starts after the gap.
 */
export function startOf(step: Step, at: number, steps = 0): number {
  const date = new Date(at);
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()];
  switch (step) {
    case 'day': {
      const start = new Date(year, month, day + steps).getTime();
      // Apia skipped 30 December 2011: before the 31st comes the 29th.
      const isStuck = steps < 0 && start === startOf('day', at);
      return isStuck ? startOf('day', at, steps - 1) : start;
    }
    case 'week':
      return new Date(year, month, day - ((date.getDay() + 6) % 7) + 7 * steps).getTime();
    case 'month':
      return new Date(year, month + steps, 1).getTime();
  }
}

/** `2026-01-15`, `2026-W03` (ISO 8601: the year that holds most of the week) or `2026-01`. */
export function labelOf(step: Step, start: number): string {
  const date = new Date(start);
  if (step === 'day') return `${monthText(date)}-${two(date.getDate())}`;
  if (step === 'month') return monthText(date);
  const thursday = new Date(date.getFullYear(), date.getMonth(), date.getDate() + 3, 12);
  const newYear = new Date(thursday.getFullYear(), 0, 1, 12);
  const week = 1 + Math.floor(Math.round((+thursday - +newYear) / 86_400_000) / 7);
  return `${year(thursday)}-W${two(week)}`;
}

/** Returns the zone's name and its UTC offset at a moment: `Europe/Moscow, UTC+03:00`. */
export function zoneText(at: number): string {
  const ahead = -new Date(at).getTimezoneOffset();
  const minutes = Math.abs(ahead);
  const offset = `UTC${ahead < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  const name = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (name === 'UTC') return name;
  return name === undefined || name === '' ? offset : `${name}, ${offset}`;
}

function monthText(date: Date): string {
  return `${year(date)}-${two(date.getMonth() + 1)}`;
}

function year(date: Date): string {
  return String(date.getFullYear()).padStart(4, '0');
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
