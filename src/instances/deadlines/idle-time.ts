import type { KnownInstance } from '../../journal/index.ts';
import type { IdleTime } from '../../json-results/instances.ts';
import { spanText } from '../../output/time.ts';

/** Milliseconds. Older evidence is outdated, even for the longest interval of `reap`. */
const OLD = 2 * 3_600_000;

/** `now` is the service's time. */
export function idleTime(idle: KnownInstance['idle'], now: number): IdleTime {
  if (idle === undefined) return {};
  const { rule, found } = idle;
  return { if_idle_seconds: rule.after / 1000, idle_seconds: secondsOf(found, now) };
}

function secondsOf(found: NonNullable<KnownInstance['idle']>['found'], now: number): number | null {
  if (found?.last == null || Math.abs(now - found.last.at) > OLD) return null;
  return found.since === null ? 0 : Math.max(0, Math.floor((now - found.since.at) / 1000));
}

/**
 * Formats the idle time: `31 min of 45 min`, `in use` or `unknown`. Returns undefined without a
 * rule.
 */
export function idleText({
  if_idle_seconds: after,
  idle_seconds: idle,
}: {
  readonly if_idle_seconds?: number | null | undefined;
  readonly idle_seconds?: number | null | undefined;
}): string | undefined {
  if (after == null) return undefined;
  if (idle == null) return 'unknown';
  return idle === 0 ? 'in use' : `${spanText(idle)} of ${spanText(after)}`;
}
