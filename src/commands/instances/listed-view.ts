import { idleText } from '../../instances/deadlines/idle-time.ts';
import { rescueState } from '../../instances/deadlines/rescued.ts';
import type { Listed } from '../../instances/known-instances.ts';
import { type Column, field, type View } from '../../output/output.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { SECRETS } from '../../rules/secrets.ts';
import { GONE } from '../../rules/statuses.ts';
import { paidUntil } from './view.ts';

const noteColumn: Column<Listed> = field('note', 'NOTE');

const endsColumn = (header: string): Column<Listed> => field('ends_at', header, { kind: 'time' });

const costColumn: Column<Listed> = field('cost_estimate', 'COST ESTIMATE', { kind: 'money' });

const idleColumn: Column<Listed> = { id: 'idle_seconds', header: 'IDLE', value: idleText };

const rescueColumn: Column<Listed> = { id: 'rescue', header: 'RESCUE', value: rescueState };

/**
 * Formats the list for people, with costs if terminated instances are listed, and with deadline and
 * note columns if any row uses them. Scripts get fixed columns. `endsHeader` is the header of the
 * deadlines.
 */
export function peopleView(
  rows: readonly Listed[],
  all: boolean,
  endsHeader: string | undefined,
): View<Listed> {
  const shown = [
    ...(all ? [costColumn] : []),
    ...(endsHeader === undefined ? [] : [endsColumn(endsHeader)]),
    ...(rows.some((row) => idleText(row) !== undefined) ? [idleColumn] : []),
    ...(rows.some((row) => rescueState(row) !== undefined) ? [rescueColumn] : []),
    ...(rows.some(({ note }) => note !== undefined) ? [noteColumn] : []),
  ];
  // The address leaves room for the cost.
  const given = listedView.columns.map((column) =>
    all && column.id === 'ip_address' ? { ...column, spared: true as const } : column,
  );
  return {
    ...listedView,
    columns: given.map((column) => shown.find(({ id }) => id === column.id) ?? column),
  };
}

export const listedView: View<Listed> = {
  columns: [
    field('name', 'NAME'),
    field('id', 'ID', { spared: true }),
    field('status', 'STATUS', { kind: 'status', least: 12 }),
    { id: 'offer', header: 'OFFER', value: ({ offer }) => offer?.name },
    field('price_per_hour_snapshot', 'PER HOUR', { kind: 'money' }),
    field('ip_address', 'ADDRESS'),
    { id: 'paid_until', header: 'PAID UNTIL', kind: 'time', spared: true, value: paidUntil },
    {
      id: 'created_at',
      header: 'CREATED',
      kind: 'time',
      value: (row) => row.created_at ?? row.asked_at,
      hidden: true,
    },
    { ...costColumn, hidden: true },
    field('last_seen_at', 'LAST SEEN', { kind: 'time', hidden: true }),
    { ...endsColumn('ENDS'), hidden: true },
    field('if_idle_seconds', 'IF IDLE SECONDS', { hidden: true }),
    field('idle_seconds', 'IDLE SECONDS', { hidden: true }),
    { ...rescueColumn, hidden: true },
    { ...noteColumn, hidden: true },
    field('unread', 'UNREAD', { hidden: true }),
  ],
  id: (row) => row.id,
  empty: `No instances known to this computer. "${gpucloud('audit')}" looks for others; --all shows terminated ones.`,
  // Ignores notes and costs, since they change with every read.
  steady: ({ note: _note, idle_seconds: _idle, cost_estimate: _cost, ...row }) => row,
  secrets: SECRETS.instance,
  json({ note: _note, ordered_at: _ordered, ...row }) {
    const { offer, ...gone } = row;
    return row.status === GONE ? gone : row;
  },
};
