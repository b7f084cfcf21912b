/** Stretches of the calendar, each in the time zone of this computer. A week starts on Monday. */
export const STEPS = ['day', 'week', 'month'] as const;
export type Step = (typeof STEPS)[number];

/**
 * The first moment of the stretch that a moment lies in, in milliseconds since 1970. A day has 23
 * or 25 hours where the clock is changed.
 */
export function startOf(step: Step, at: number): number {
  const date = new Date(at);
  const back = step === 'week' ? (date.getDay() + 6) % 7 : 0;
  return midnight(date, step === 'month' ? 1 : date.getDate() - back);
}

/** The first moment of the stretch after the one that begins at `start`. */
export function nextStart(step: Step, start: number): number {
  const date = new Date(start);
  if (step === 'month') {
    return midnight(new Date(date.getFullYear(), date.getMonth() + 1, 1, 12), 1);
  }
  return midnight(date, date.getDate() + (step === 'week' ? 7 : 1));
}

/** The start of the stretch `count` stretches before the one that a moment lies in. */
export function stepsBack(step: Step, at: number, count: number): number {
  const date = new Date(startOf(step, at));
  if (step === 'month') {
    return midnight(new Date(date.getFullYear(), date.getMonth() - count, 1, 12), 1);
  }
  return midnight(date, date.getDate() - count * (step === 'week' ? 7 : 1));
}

/** `2026-01-15`, `2026-W03` (ISO 8601: of the year that most of the week lies in), `2026-01`. */
export function labelOf(step: Step, start: number): string {
  const date = new Date(start);
  if (step === 'day') return `${monthText(date)}-${two(date.getDate())}`;
  if (step === 'month') return monthText(date);
  const thursday = new Date(date.getFullYear(), date.getMonth(), date.getDate() + 3, 12);
  const newYear = new Date(thursday.getFullYear(), 0, 1, 12);
  const week = 1 + Math.floor(Math.round((+thursday - +newYear) / 86_400_000) / 7);
  return `${year(thursday)}-W${two(week)}`;
}

/** The name of the zone and how far it is ahead of UTC at a moment: `Europe/Moscow, UTC+03:00`. */
export function zoneText(at: number): string {
  const ahead = -new Date(at).getTimezoneOffset();
  const minutes = Math.abs(ahead);
  const offset = `UTC${ahead < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  const name = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return name === undefined || name === '' ? offset : `${name}, ${offset}`;
}

/**
 * The first moment of a day of the month of `date`. Where the clock skips midnight the day begins
 * when the clock goes on, and where midnight comes twice, with the first.
 */
function midnight(date: Date, day: number): number {
  return new Date(date.getFullYear(), date.getMonth(), day).getTime();
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
