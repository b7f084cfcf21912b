import { idleText } from '../../instances/deadlines/idle-time.ts';
import type { Listed } from '../../instances/known-instances.ts';
import type { Snapshot } from '../../journal/index.ts';
import { type Column, field, type View } from '../../output/output.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { mayBill } from '../../rules/statuses.ts';
import { endsAt, instanceView } from './view.ts';

const noteColumn: Column<Listed> = field('note', 'NOTE');

const endsColumn: Column<Listed> = {
  id: 'ends_at',
  header: 'ENDS',
  kind: 'time',
  value: endsAt,
};

const idleColumn: Column<Listed> = { id: 'idle_seconds', header: 'IDLE', value: idleText };

/**
 * Formats the list for people, with deadline and note columns if any row uses them. Scripts get
 * fixed columns.
 */
export function peopleView(rows: readonly Listed[]): View<Listed> {
  const shown = [
    ...(rows.some((row) => endsAt(row) !== undefined) ? [endsColumn] : []),
    ...(rows.some((row) => idleText(row) !== undefined) ? [idleColumn] : []),
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
    field('id', 'ID', { spared: true }),
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
    {
      id: 'ip_address',
      header: 'ADDRESS',
      value: (row) => row.instance?.ip_address ?? lastFacts(row).ip_address,
    },
    {
      id: 'paid_until',
      header: 'PAID UNTIL',
      kind: 'time',
      spared: true,
      value: (row) =>
        mayBill(row.status) ? (row.instance?.paid_until ?? lastFacts(row).paid_until) : undefined,
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
    field('if_idle_seconds', 'IF IDLE SECONDS', { hidden: true }),
    field('idle_seconds', 'IDLE SECONDS', { hidden: true }),
    { ...noteColumn, hidden: true },
    { id: 'unread', header: 'UNREAD', value: (row) => row.unread === true, hidden: true },
  ],
  id: (row) => row.id,
  empty: `No instances known to this computer. "${gpucloud('audit')}" looks for others; --all shows terminated ones.`,
  // Ignores notes, since ages in them change with every read.
  steady: ({ note: _note, idle_seconds: _idle, ...row }) => row,
  secrets: (instanceView.secrets ?? []).map((path) => `instance.${path}`),
  json: (row) => ({
    ...(row.instance ?? unreadForm(row)),
    ends_at: endsAt(row) ?? null,
    ...(row.if_idle_seconds === undefined
      ? {}
      : { if_idle_seconds: row.if_idle_seconds, idle_seconds: row.idle_seconds ?? null }),
    unread: row.unread === true,
  }),
};

/** Last known facts about an unreadable instance. */
function lastFacts({ unread, last }: Listed): NonNullable<Snapshot['facts']> {
  return unread === true ? (last?.facts ?? {}) : {};
}

/** Returns the JSON of an unread instance, in the shape of a read instance if possible. */
function unreadForm(row: Listed): object {
  const { id, name, status, last, asked_at, uid, offer_id } = row;
  const { offer_id: offer, ...facts } = lastFacts(row);
  return {
    id,
    name,
    status,
    ...(asked_at === undefined
      ? {}
      : { uid: uid ?? null, asked_at, offer_id: offer_id ?? null, may_be_billing: true }),
    ...(last === undefined
      ? {}
      : {
          price_per_hour_snapshot: last.price_per_hour ?? null,
          ...facts,
          ...(offer == null ? {} : { offer: { id: offer, name: last.offer_name ?? null } }),
          created_at: last.created_at ?? null,
          last_seen_at: last.seen_at,
        }),
  };
}
