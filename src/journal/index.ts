import type { JournalSettings } from './contract.ts';
import { known } from './known.ts';
import { sending } from './sending.ts';
import { openStore } from './store.ts';

export type * from './contract.ts';
export {
  heartbeatOf,
  heartbeatsIn,
  removeHeartbeat,
  writeHeartbeat,
} from './deadlines.ts';
export { accountsIn } from './files.ts';
export type { HeldRescue } from './known.ts';
export type {
  EventRecord,
  Heartbeat,
  IdleRecord,
  IdleRule,
  Operation,
  Origin,
  Rescue,
  RescueRecord,
  SeenInstance,
  SessionMark,
} from './record.ts';
export { type ResponseId, responseId } from './response-id.ts';

export type Journal = ReturnType<typeof openJournal>;

/**
 * Opens the journal of one service and account: rental requests and known instances. Reads and
 * writes nothing until a method is called.
 *
 * While the account is unknown, reads cover every account of the service, and nothing new can be
 * written. Every method throws CliError('storage') if the disk fails.
 */
export function openJournal(settings: JournalSettings) {
  const store = openStore(settings);
  const { reading, writing, account, isKeyKnown, learn } = store;
  return {
    /** Returns the account ID, or undefined if this key has never rented or listed anything. */
    account: () => reading(account),
    /** Whether this key has been seen to belong to that account. */
    isKeyKnown: () => reading(isKeyKnown),
    /** Stores this key's account. */
    learnAccount: (id: string) => writing(() => learn(id)),
    ...sending(store),
    ...known(store),
  };
}
