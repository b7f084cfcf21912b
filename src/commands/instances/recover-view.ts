import { WHAT } from '../../instances/journaled-errors.ts';
import type { Operation } from '../../journal/index.ts';
import type { View } from '../../output/output.ts';

/** What became of a request. */
export interface Recovered {
  /** Of the request; "untrack" takes it. */
  readonly uid: string;
  readonly name: string;
  readonly operation: Operation;
  readonly asked_at: string;
  readonly offer_id: string | null;
  /** `rented` says of a drive or an API key that it was made. */
  readonly outcome: 'rented' | 'replaced' | 'not_made' | 'unknown';
  /** Of what was made, where it is known. */
  readonly id: string | null;
  readonly may_be_billing: boolean;
  readonly note: string;
}

export const recoveredView: View<Recovered> = {
  columns: [
    { id: 'name', header: 'NAME', value: (row) => row.name },
    { id: 'kind', header: 'KIND', value: (row) => WHAT[row.operation], hidden: true },
    { id: 'outcome', header: 'OUTCOME', value: outcomeWord },
    { id: 'id', header: 'ID', value: (row) => row.id },
    { id: 'asked_at', header: 'ASKED', kind: 'time', value: (row) => row.asked_at },
    { id: 'note', header: 'NOTE', value: (row) => row.note },
    { id: 'operation', header: 'OPERATION', value: (row) => row.operation, hidden: true },
    { id: 'offer_id', header: 'OFFER', value: (row) => row.offer_id, hidden: true },
    { id: 'uid', header: 'UID', value: (row) => row.uid, hidden: true },
  ],
  id: (row) => row.id,
  empty: 'The outcome of every request is known.',
};

/** Only machines are rented. */
function outcomeWord({ outcome, operation }: Recovered): string {
  const isMade = outcome === 'rented' && WHAT[operation] !== WHAT.create;
  return isMade ? 'MADE' : outcome.toUpperCase();
}

/** Others may be this account's, which was said just before. */
const OF_THIS_KEY = 'No request that was made with this key has an unknown outcome.';

/** The kind stands beside the name where not all are machines, as a reader would take them for. */
export function viewOf(rows: readonly Recovered[], isShort: boolean): View<Recovered> {
  const isMixed = rows.some(({ operation }) => WHAT[operation] !== WHAT.create);
  return {
    ...recoveredView,
    ...(isShort ? { empty: OF_THIS_KEY } : {}),
    columns: recoveredView.columns.map((column) => {
      const { hidden, ...shown } = column;
      return isMixed && column.id === 'kind' ? shown : column;
    }),
  };
}
