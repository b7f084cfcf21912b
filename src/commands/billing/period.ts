import { usageError } from '../../errors.ts';
import { type Moment, timeOf } from '../../rules/times.ts';

/** Milliseconds since 1970: from `from` on, before `to`. */
interface Period {
  readonly from: number;
  readonly to: number;
}

/** `--since` and `--until`; undefined without both. */
export function periodOf(
  { since, until }: { since?: Moment | undefined; until?: Moment | undefined },
  now: number,
): Period | undefined {
  if (since === undefined && until === undefined) return undefined;
  const period = {
    from: since === undefined ? Number.NEGATIVE_INFINITY : timeOf(since, now),
    to: until === undefined ? Number.POSITIVE_INFINITY : timeOf(until, now),
  };
  if (period.from >= period.to) {
    throw usageError(`--since is not before --until: ${periodText(period)}`);
  }
  return period;
}

/** In a form that leaves no doubt about the zone. */
export function periodText({ from, to }: Period): string {
  const parts = [
    Number.isFinite(from) ? `from ${new Date(from).toISOString()}` : '',
    Number.isFinite(to) ? `before ${new Date(to).toISOString()}` : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}
