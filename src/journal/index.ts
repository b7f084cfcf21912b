import type { Journal, JournalSettings } from './contract.ts';
import { deadlines } from './deadlines/index.ts';
import { drives } from './drives/index.ts';
import { known } from './known.ts';
import { sending } from './sending.ts';
import { openStore } from './store.ts';

export type * from './contract.ts';
export {
  heartbeatOf,
  heartbeatsIn,
  removeHeartbeat,
  writeHeartbeat,
} from './deadlines/heartbeats.ts';
export type { DriveRecord, Heartbeat, Operation, Origin, Snapshot } from './record.ts';
export { refusedId, responseId } from './response-id.ts';

/** Opens one account's journal. Reads and writes nothing until a method is called. */
export function openJournal(settings: JournalSettings): Journal {
  const store = openStore(settings);
  const { reading, writing, accounts } = store;
  return {
    account: () => reading(() => accounts.account()),
    learnAccount: (id) => writing(() => accounts.learn(id)),
    ...sending(store),
    ...known(store),
    ...deadlines(store),
    ...drives(store),
  };
}
