import { broken, kept, type Verdict } from './rule.ts';

const MILLISECONDS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A duration as people write it: `500ms`, `30s`, `15m`, `2h`, `3d`. The value is milliseconds. */
export function duration(text: string): Verdict<number> {
  const match = /^([0-9]{1,9})(ms|s|m|h|d)$/.exec(text);
  const unit = MILLISECONDS[match?.[2] ?? ''];
  if (match === null || unit === undefined) {
    return broken('a duration is a whole number with a unit, such as 500ms, 30s, 15m, 2h or 3d');
  }
  return kept(Number(match[1]) * unit);
}

/** A duration that may not be zero, for deadlines and intervals. */
export function positiveDuration(text: string): Verdict<number> {
  const verdict = duration(text);
  return verdict.ok && verdict.value === 0
    ? broken('a duration here is longer than zero')
    : verdict;
}

/** The shortest pause between two readings of the same thing: rate limits are not documented. */
const SHORTEST_POLL_MS = 500;

/** The time between two readings. */
export function pollInterval(text: string): Verdict<number> {
  const verdict = duration(text);
  return verdict.ok && verdict.value < SHORTEST_POLL_MS
    ? broken(`the service is asked again after ${SHORTEST_POLL_MS}ms at the earliest`)
    : verdict;
}
