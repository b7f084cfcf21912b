import type { CreateInstanceBody } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import type { Plan, Planned } from '../../json-results/instances.ts';
import type { DetailLine } from '../../output/output.ts';
import type { Money } from '../../rules/money.ts';
import { type DeadlineFlags, plannedDeadline } from '../deadlines/deadline.ts';
import { ensureCanRent } from '../recover/pending.ts';

/** Plan if `--if-not-exists` finds the name: sends nothing. */
export const NOTHING_PLANNED: Plan = {
  request: null,
  deadline: null,
  if_idle_seconds: null,
  max_price: null,
  would_send: false,
  from_profile: [],
};

interface Wish {
  /** Names of several instances; defaults to the name in the request. */
  readonly names?: readonly string[];
  readonly ends: DeadlineFlags;
  readonly maxPrice: Money | undefined;
}

/** Throws every error that the same command without `--dry-run` would throw before its request. */
export async function planRental(
  { instance_name: name, offer_id }: CreateInstanceBody,
  { ends, maxPrice, names = [name] }: Wish,
  context: Context,
): Promise<Planned> {
  const planned = plannedDeadline(ends, context);
  const max_price = maxPrice?.toFixed();
  const limit = max_price === undefined ? {} : { max_price };
  const request = { operation: 'create', offer_id, ...planned, ...limit } as const;
  await ensureCanRent(
    names.map((one) => ({ ...request, name: one })),
    context,
  );
  const { deadline, if_idle: idle } = planned;
  return {
    deadline: deadline ?? null,
    if_idle_seconds: idle === undefined ? null : idle / 1000,
    max_price: max_price ?? null,
    would_send: true,
  };
}

/** Returns the fields of the unsent request as lines of details. */
export function requestLines(request: object): DetailLine[] {
  return Object.entries(request).map(([label, value]) => ({
    label,
    value: typeof value === 'string' ? value : JSON.stringify(value),
  }));
}
