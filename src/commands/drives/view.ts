import type { Drive } from '../../api/index.ts';
import type { Column, View } from '../../output/output.ts';
import { sectionOf } from '../../output/table/details.ts';
import { inRoubles, money } from '../../rules/money.ts';

/**
 * The documented rule for SUSPENDED, to complete a sentence. No documented field holds the suspension
 * time (`updated_at` also follows other changes), so no date is computed.
 */
export const SEVEN_DAYS =
  'the balance ran out. The drive is deleted for good at most 7 days after the suspension';

const columns: readonly Column<Drive>[] = [
  { id: 'name', header: 'NAME', value: (d) => d.name },
  { id: 'id', header: 'ID', value: (d) => d.id },
  { id: 'status', header: 'STATUS', kind: 'status', least: 9, value: (d) => d.status },
  { id: 'size_gb', header: 'SIZE', kind: 'gigabytes', value: (d) => d.size_gb },
  { id: 'used_bytes', header: 'USED', kind: 'bytes', value: (d) => d.used_bytes },
  { id: 'price_per_hour', header: 'PER HOUR', kind: 'money', value: (d) => d.price_per_hour },
  { id: 'current_instance_id', header: 'INSTANCE', value: (d) => d.current_instance_id },
  {
    id: 'paid_until',
    header: 'PAID UNTIL',
    kind: 'time',
    value: (d) => d.paid_until,
    hidden: true,
  },
  {
    id: 'last_billed_at',
    header: 'LAST CHARGED',
    kind: 'time',
    value: (d) => d.last_billed_at,
    hidden: true,
  },
  { id: 's3_path', header: 'PATH', value: (d) => d.s3_path, hidden: true },
  { id: 'created_at', header: 'CREATED', kind: 'time', value: (d) => d.created_at, hidden: true },
  { id: 'updated_at', header: 'UPDATED', kind: 'time', value: (d) => d.updated_at, hidden: true },
];

export const driveView: View<Drive> = {
  columns,
  id: (d) => d.id,
  empty: 'No drives. Create one: gpucloud drives create NAME --size 500GB',
  sections: [
    {
      lines: (d) => [
        { label: 'Attention', value: d.status === 'SUSPENDED' ? suspendedText(d) : null },
      ],
    },
    sectionOf(columns),
  ],
};

function suspendedText({ id }: Drive): string {
  return `${SEVEN_DAYS};\nits debt grows until then. Top up the balance, then: gpucloud drives resume ${id}`;
}

/** The cost of a drive: `6.00 ₽ per hour`. Returns a price that can't be read unchanged. */
export function hourly({ price_per_hour: price }: Pick<Drive, 'price_per_hour'>): string {
  if (price === undefined || price === null || price === '') {
    return 'price unknown';
  }
  const amount = money(price);
  return amount.ok ? `${inRoubles(amount.value)} per hour` : `price per hour "${price}"`;
}
