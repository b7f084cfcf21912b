import type { Journal, JournalSettings } from './contract.ts';
import { known } from './known.ts';
import { sending } from './sending.ts';
import { openStore } from './store.ts';

export { answerId, refusedId } from './answer-id.ts';
export type * from './contract.ts';
export type { Operation, Origin, Snapshot } from './record.ts';

/** Opens the journal of one account. Nothing is read or written before it is asked for. */
export function openJournal(settings: JournalSettings): Journal {
  const store = openStore(settings);
  const { reading, writing, accounts } = store;
  return {
    account: () => reading(() => accounts.account()),
    learnAccount: (id) => writing(() => accounts.learn(id)),
    ...sending(store),
    ...known(store),
  };
}
