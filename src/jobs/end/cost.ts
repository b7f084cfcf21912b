import type { Instance } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import type { ExactCosts } from '../../money/by-instance.ts';
import { instant } from '../../output/time.ts';
import { kopecksText, priceIn, startedHours } from '../../rules/money.ts';
import { isTerminated } from '../../rules/statuses.ts';
import { readAllJobs } from '../record/record.ts';

/**
 * Returns the price of every started hour, in roubles, as a decimal; null if the price or the time
 * is unknown.
 */
export function costAtMost(
  instance: Pick<Instance, 'price_per_hour_snapshot' | 'created_at' | 'terminated_at'> | undefined,
  now: number,
): string | null {
  const price = priceIn(instance?.price_per_hour_snapshot);
  const created = instant(instance?.created_at);
  if (price === undefined || created === undefined) return null;
  const end = Math.min(now, instant(instance?.terminated_at) ?? now);
  return kopecksText(price.times(startedHours(end - created)));
}

/** Returns the proven costs of the instances that jobs of this computer rented and terminated. */
export async function exactCosts(
  instances: readonly { readonly status?: string | null | undefined }[],
  context: Context,
): Promise<ExactCosts> {
  if (!instances.some(({ status }) => isTerminated(status))) return new Map();
  const { jobs } = await readAllJobs(context);
  const ended = jobs.filter(({ on, report }) => !on && report?.terminated === true);
  return new Map(ended.flatMap(({ id, report }) => (report?.cost ? [[id, report.cost]] : [])));
}
