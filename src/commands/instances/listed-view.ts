import type { Listed } from '../../instances/known-instances.ts';
import { type Column, field, type View } from '../../output/output.ts';
import { endsAt, instanceView, paidUntil } from './view.ts';

const noteColumn: Column<Listed> = field('note', 'NOTE');

const endsColumn: Column<Listed> = {
  id: 'ends_at',
  header: 'ENDS',
  kind: 'time',
  value: endsAt,
};

/** The list for people, with deadlines and notes if any row has one. Scripts get fixed columns. */
export function peopleView(rows: readonly Listed[]): View<Listed> {
  const shown = [
    ...(rows.some((row) => endsAt(row) !== undefined) ? [endsColumn] : []),
    ...(rows.some(({ note }) => note !== undefined) ? [noteColumn] : []),
  ];
  return {
    ...listedView,
    columns: listedView.columns.map((column) => shown.find(({ id }) => id === column.id) ?? column),
  };
}

export const listedView: View<Listed> = {
  columns: [
    field('name', 'NAME'),
    field('id', 'ID'),
    field('status', 'STATUS', { kind: 'status', least: 12 }),
    {
      id: 'offer',
      header: 'OFFER',
      value: (row) => row.instance?.offer?.name ?? row.last?.offer_name,
    },
    {
      id: 'price_per_hour_snapshot',
      header: 'PER HOUR',
      kind: 'money',
      value: (row) => row.instance?.price_per_hour_snapshot ?? row.last?.price_per_hour,
    },
    { id: 'ip_address', header: 'ADDRESS', value: (row) => row.instance?.ip_address },
    {
      id: 'paid_until',
      header: 'PAID UNTIL',
      kind: 'time',
      value: (row) => row.instance && paidUntil(row.instance),
    },
    {
      id: 'created_at',
      header: 'CREATED',
      kind: 'time',
      value: (row) => row.instance?.created_at ?? row.last?.created_at ?? row.asked_at,
      hidden: true,
    },
    {
      id: 'last_seen_at',
      header: 'LAST SEEN',
      kind: 'time',
      value: (row) => row.last?.seen_at,
      hidden: true,
    },
    { ...endsColumn, hidden: true },
    { ...noteColumn, hidden: true },
  ],
  id: (row) => row.id,
  empty:
    'No instances known to this computer. "gpucloud audit" looks for others; --all shows terminated ones.',
  // A note contains ages.
  steady: ({ note: _note, ...row }) => row,
  secrets: (instanceView.secrets ?? []).map((path) => `instance.${path}`),
  json: (row) => ({
    ...(row.instance ?? {
      id: row.id,
      name: row.name,
      status: row.status,
      ...(row.asked_at === undefined
        ? {}
        : {
            uid: row.uid ?? null,
            asked_at: row.asked_at,
            offer_id: row.offer_id ?? null,
            may_be_billing: true,
          }),
      ...(row.last === undefined
        ? {}
        : {
            price_per_hour_snapshot: row.last.price_per_hour ?? null,
            created_at: row.last.created_at ?? null,
            last_seen_at: row.last.seen_at,
          }),
      ...(row.unread === true ? { unread: true } : {}),
    }),
    ends_at: endsAt(row) ?? null,
  }),
};
