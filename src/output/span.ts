const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** A length of time in its two largest units, rounded down: `4 days 20 h`, `3 h 12 min`, `38 s`. */
export function spanText(seconds: number): string {
  if (seconds < MINUTE) return `${Math.floor(seconds)} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < DAY) return joined(seconds, HOUR, 'h', MINUTE, 'min');
  if (seconds >= 100 * YEAR) return 'more than 100 years';
  if (seconds >= 2 * YEAR) return `${Math.floor(seconds / YEAR)} years`;
  const days = Math.floor(seconds / DAY);
  const hours = Math.floor((seconds % DAY) / HOUR);
  const words = days === 1 ? '1 day' : `${days} days`;
  return hours === 0 || days >= 30 ? words : `${words} ${hours} h`;
}

function joined(seconds: number, large: number, L: string, small: number, S: string): string {
  const rest = Math.floor((seconds % large) / small);
  const words = `${Math.floor(seconds / large)} ${L}`;
  return rest === 0 ? words : `${words} ${rest} ${S}`;
}
