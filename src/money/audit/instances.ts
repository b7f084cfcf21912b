import type { Listed } from '../../instances/known-instances.ts';
import type { Known, KnownInstance } from '../../journal/index.ts';
import { instant, spanText } from '../../output/time.ts';
import { inRoubles, type Money, priceIn, zero } from '../../rules/money.ts';
import { typedName } from '../../rules/names.ts';
import { instanceStatus, mayBill } from '../../rules/statuses.ts';
import type { AccountReading } from '../account.ts';
import { instanceItem } from '../burn.ts';
import { type Check, resultsOf } from './check.ts';

/** Possible costs per hour of requests with an unknown outcome, by their uid. */
export type RequestPrices = ReadonlyMap<string, string | null | undefined>;

/** Requests that may or may not have rented. */
export function openRequests(known: Known, requestPrices: RequestPrices): Check {
  const { ok, finding, unknown } = resultsOf('open_requests');
  if (known.unknown.length > 0) {
    const { length } = known.unknown;
    const prices = known.unknown.map(({ uid }) => priceIn(requestPrices.get(uid)));
    return finding(
      `${length === 1 ? '1 request has' : `${length} requests have`} an unknown outcome, and may be billing.`,
      {
        evidence: known.unknown.map(({ name, asked_at }) => `${name}, requested at ${asked_at}`),
        perHour: sumOf(prices),
        command: 'gpucloud instances recover',
      },
    );
  }
  if (known.inFlight.length > 0) {
    const names = known.inFlight.map(({ name }) => name);
    return unknown(
      'Another gpucloud process is waiting for a response. Audit again when it has ended.',
      {
        evidence: names.map((name) => `${name} is being created`),
        command: 'gpucloud audit',
      },
    );
  }
  return ok('No request has an unknown outcome.');
}

/**
 * Running instances that a drive names and that this computer neither rented nor tracks. Another
 * command may have added them to the list before.
 */
export function rentedElsewhere({ drives, instances }: AccountReading, known: Known): Check {
  const { ok, finding, unknown } = resultsOf('rented_elsewhere');
  if (drives === undefined || instances === undefined) {
    return unknown('The drives, which name instances, could not be read.');
  }
  const ours = new Set(known.instances.filter(isOurs).map(({ id }) => id));
  const foreign = drives.flatMap((drive) => {
    const id = drive.current_instance_id;
    return !id || ours.has(id)
      ? []
      : [{ drive, id, row: instances.rows.find((row) => row.id === id) }];
  });
  // An ended instance has no row.
  const over = new Set(known.instances.filter(({ archived }) => archived).map(({ id }) => id));
  const unread = foreign.filter(({ id, row }) => row?.instance === undefined && !over.has(id));
  const living = foreign.flatMap(({ drive, row }) =>
    row?.instance !== undefined && mayBill(row.status) ? [{ drive, row }] : [],
  );
  const [first] = living;
  if (first !== undefined) {
    return finding(
      'A drive names an instance that this computer neither rented nor tracks. Track it, or terminate it.',
      {
        evidence: living.map(
          ({ drive, row }) => `${lineOf(row)}, attached to the drive ${drive.name ?? drive.id}`,
        ),
        perHour: sumOf(living.map(({ row }) => priceIn(instanceItem(row).price))),
        command: `gpucloud instances get ${first.row.id}`,
      },
    );
  }
  if (unread.length > 0) {
    return unknown('A drive names an instance that could not be read.', {
      evidence: unread.map(
        ({ drive, id }) => `${id}, attached to the drive ${drive.name ?? drive.id}`,
      ),
      command: 'gpucloud drives list',
    });
  }
  return ok('Every instance that a drive names was rented or is tracked here.');
}

/**
 * Whether the instance was rented, tracked or untracked here. If its file is torn, it may have been
 * rented here.
 */
function isOurs({ origin, untracked, asked_at }: KnownInstance): boolean {
  return untracked || !['read', 'drive'].includes(origin) || Date.parse(asked_at) === 0;
}

/** Milliseconds after which an instance without a deadline counts as forgotten. */
const LONG = 24 * 3_600_000;

/** Instances past their deadline, and those without one that have run for a day. */
export function runningLong({ instances, now }: AccountReading): Check {
  const { ok, finding, unknown } = resultsOf('running_long');
  if (instances === undefined) return unknown('The instances could not be read.');
  const long = instances.rows.flatMap((row) => {
    const why = whyLong(row, now);
    return why === undefined ? [] : [{ row, ...why }];
  });
  const [first] = long;
  if (first !== undefined) {
    const overdue = long.some(({ isOverdue }) => isOverdue);
    return finding('An instance is past its deadline, or was rented over 24 h ago and has none.', {
      evidence: long.map(({ row, text }) => `${lineOf(row)}, ${text}`),
      perHour: sumOf(long.map(({ row }) => priceIn(instanceItem(row).price))),
      command: overdue
        ? 'gpucloud instances reap'
        : `gpucloud instances expire ${typedName(first.row.name, first.row.id ?? '')} --after 4h`,
    });
  }
  const [fault] = instances.faults;
  if (fault !== undefined) {
    return unknown(
      `${instances.faults.length} of ${instances.requested} instances could not be read: ${fault.message}`,
    );
  }
  return ok('No instance is past its deadline or has run for over 24 h without one.');
}

function whyLong(row: Listed, now: number): { isOverdue: boolean; text: string } | undefined {
  const { id, status, ends_at, instance, last } = row;
  if (id === null) return undefined;
  if (ends_at !== undefined) {
    const passed = now - Date.parse(ends_at);
    if (!mayBill(status) || passed < 0) return undefined;
    return { isOverdue: true, text: `${spanText(passed / 1000)} past its deadline` };
  }
  const since = instant((instance ?? last)?.created_at);
  if (instanceStatus(status).bills !== 'yes' || since === undefined || now - since < LONG) {
    return undefined;
  }
  return { isOverdue: false, text: `rented ${spanText((now - since) / 1000)} ago` };
}

/** `trainer (ID), ACTIVE, 89.90 RUB per hour` */
export function lineOf(row: Listed): string {
  const price = priceIn(instanceItem(row).price);
  const cost = price === undefined ? 'price unknown' : `${inRoubles(price)} per hour`;
  const title = row.id === null || row.name === row.id ? row.name : `${row.name} (${row.id})`;
  return `${title}, ${row.status}${row.unread === true ? ' when last seen' : ''}, ${cost}`;
}

/** undefined if one of them is not known. */
export function sumOf(prices: readonly (Money | undefined)[]): Money | undefined {
  return prices.reduce<Money | undefined>(
    (sum, price) => (price === undefined ? undefined : sum?.plus(price)),
    zero(),
  );
}
