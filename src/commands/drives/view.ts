import type { Drive } from '../../api/index.ts';
import { type Column, field, type View } from '../../output/output.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { sectionOf } from '../../output/table/details.ts';
import { inRoubles, money } from '../../rules/money.ts';

/**
 * The documented rule for SUSPENDED; completes a sentence. Gives no date: no documented field
 * contains the suspension time, and `updated_at` also changes for other reasons.
 */
export const SEVEN_DAYS =
  'the balance ran out. The service deletes the drive within 7 days of the suspension';

const columns: readonly Column<Drive>[] = [
  field('name', 'NAME'),
  field('id', 'ID', { spared: true }),
  field('status', 'STATUS', { kind: 'status', least: 9 }),
  field('size_gb', 'SIZE', { kind: 'gigabytes' }),
  field('used_bytes', 'USED', { kind: 'bytes', spared: true }),
  field('price_per_hour', 'PER HOUR', { kind: 'money' }),
  field('current_instance_id', 'INSTANCE', { spared: true }),
  field('paid_until', 'PAID UNTIL', { kind: 'time', hidden: true }),
  field('last_billed_at', 'LAST CHARGED', { kind: 'time', hidden: true }),
  field('s3_path', 'PATH', { hidden: true }),
  field('created_at', 'CREATED', { kind: 'time', hidden: true }),
  field('updated_at', 'UPDATED', { kind: 'time', hidden: true }),
];

export const driveView: View<Drive> = {
  columns,
  id: (d) => d.id,
  empty: `No drives. Create one: ${gpucloud('drives', 'create', 'NAME', '--size', '500GB')}`,
  sections: [
    {
      lines: (d) => [
        { label: 'Attention', value: d.status === 'SUSPENDED' ? suspendedText(d) : null },
      ],
    },
    sectionOf(columns),
  ],
};

/** The list for people, with instance names instead of IDs where this computer knows them. */
export function peopleView(names: ReadonlyMap<string, string>): View<Drive> {
  const nameOf = ({ current_instance_id: id }: Drive) => (id == null ? id : (names.get(id) ?? id));
  return {
    ...driveView,
    columns: columns.map((column) =>
      column.id === 'current_instance_id' ? { ...column, value: nameOf } : column,
    ),
  };
}

function suspendedText({ id }: Drive): string {
  return `${SEVEN_DAYS}.\nIts debt grows until then. Top up the balance, then: ${gpucloud('drives', 'resume', id)}`;
}

/** Formats a drive's cost: `6.00 ₽ per hour`. Returns an unreadable price unchanged. */
export function hourly({ price_per_hour: price }: Pick<Drive, 'price_per_hour'>): string {
  if (!price) return 'price unknown';
  const amount = money(price);
  return amount.ok ? `${inRoubles(amount.value)} per hour` : `price per hour "${price}"`;
}
