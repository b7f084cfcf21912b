import type { Drive } from '../../api/index.ts';
import type { Listed } from '../../instances/known-instances.ts';
import { billsFlag, driveItem, instanceItem } from '../../money/burn.ts';
import { deletionOf } from '../../money/suspension.ts';
import { instant } from '../../output/time.ts';
import { priceIn } from '../../rules/money.ts';
import { mayBill } from '../../rules/statuses.ts';

export type InstanceRow = ReturnType<typeof instanceRow>;

/** An instance in the JSON of `status`. */
export function instanceRow(row: Listed, now: number) {
  const { id, name, status, instance, last } = row;
  const created = instance?.created_at ?? last?.created_at ?? row.asked_at ?? null;
  const since = instant(created);
  const item = instanceItem(row);
  return {
    /** null for a request whose response was lost. */
    id,
    name,
    status,
    bills: billsFlag(item),
    price_per_hour_snapshot: item.price,
    offer: instance?.offer?.name ?? last?.offer_name ?? null,
    created_at: created,
    age_seconds: since === undefined ? null : Math.max(0, Math.floor((now - since) / 1000)),
    paid_until: instance?.paid_until ?? null,
    /** The deadline, by the service's clock. */
    ends_at: mayBill(status) ? (row.ends_at ?? null) : null,
    failure_reason: instance?.failure_reason ?? null,
    /** The status is the last one seen, at `last_seen_at`. */
    unread: row.unread === true,
    last_seen_at: last?.seen_at ?? null,
  };
}

export type DriveRow = ReturnType<typeof driveRow>;

/** A drive in the JSON of `status`. */
export function driveRow(drive: Drive) {
  const deletion = drive.status === 'SUSPENDED' ? deletionOf(drive) : undefined;
  return {
    id: drive.id,
    name: drive.name ?? null,
    status: drive.status ?? null,
    bills: billsFlag(driveItem(drive)),
    price_per_hour: drive.price_per_hour ?? null,
    size_gb: drive.size_gb ?? null,
    current_instance_id: drive.current_instance_id ?? null,
    paid_until: drive.paid_until ?? null,
    /** When a suspended drive is deleted for good: earliest and latest. */
    deleted_at_earliest: isoOrNull(deletion?.earliest),
    deleted_at_latest: isoOrNull(deletion?.latest),
  };
}

function isoOrNull(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}

/** The most expensive first, unknown prices last. */
export function byPrice(a: InstanceRow, b: InstanceRow): number {
  const [one, other] = [a, b].map((row) => priceIn(row.price_per_hour_snapshot));
  if (one === undefined || other === undefined)
    return one === other ? 0 : one === undefined ? 1 : -1;
  return other.cmp(one);
}
