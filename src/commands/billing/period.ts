import type { Transaction } from '../../api/index.ts';
import { usageError } from '../../errors.ts';
import { momentOf } from '../../money/ledger.ts';
import { type Moment, timeOf } from '../../rules/moment.ts';

/** Milliseconds since 1970: from `from` on, up to and without `to`. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

export function periodOf(
  { since, until }: { since?: Moment | undefined; until?: Moment | undefined },
  now: number,
): Period | undefined {
  if (since === undefined && until === undefined) {
    return undefined;
  }
  const period = {
    from: since === undefined ? Number.NEGATIVE_INFINITY : timeOf(since, now),
    to: until === undefined ? Number.POSITIVE_INFINITY : timeOf(until, now),
  };
  if (period.from >= period.to) {
    throw usageError(`--since is not before --until: ${periodWords(period)}`);
  }
  return period;
}

/** The period as it was understood, in a form that leaves no doubt about the zone. */
export function periodWords({ from, to }: Period): string {
  const parts = [
    Number.isFinite(from) ? `from ${new Date(from).toISOString()}` : '',
    Number.isFinite(to) ? `before ${new Date(to).toISOString()}` : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** undefined for a transaction whose time can't be read. */
export function isWithin(
  transaction: Pick<Transaction, 'created_at'>,
  { from, to }: Period,
): boolean | undefined {
  const time = momentOf(transaction);
  return time === undefined ? undefined : time >= from && time < to;
}
