import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { lazy } from '../../lazy.ts';
import { local } from '../../output/time.ts';
import { type Moment, timeOf } from '../../rules/times.ts';

/** Milliseconds since 1970; excludes `to`. */
interface Period {
  readonly from: number;
  readonly to: number;
}

interface Given {
  readonly since?: Moment | undefined;
  readonly until?: Moment | undefined;
}

/**
 * Returns the period from `--since` and `--until`, or undefined if neither is given. Call the result
 * after the service's first response, since ages count from the service's time.
 */
export function periodAt(
  { since, until }: Given,
  { serviceClock }: Pick<Context, 'serviceClock'>,
): (() => Period) | undefined {
  if (since === undefined && until === undefined) return undefined;
  const period = () => periodOf({ since, until }, serviceClock.now());
  // Reports a reversed period before any request: comparing two times or two ages needs no service
  // clock.
  if (since && until && 'at' in since === 'at' in until) period();
  return lazy(period);
}

function periodOf({ since, until }: Given, now: number): Period {
  const period = {
    from: since === undefined ? Number.NEGATIVE_INFINITY : timeOf(since, now),
    to: until === undefined ? Number.POSITIVE_INFINITY : timeOf(until, now),
  };
  if (period.from >= period.to) {
    throw usageError(`--since must be before --until: ${periodText(period)}`);
  }
  return period;
}

export function periodText({ from, to }: Period): string {
  const parts = [
    Number.isFinite(from) ? `from ${local(from)}` : '',
    Number.isFinite(to) ? `before ${local(to)}` : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}
